#!/bin/sh
# A notice on the desktop: millrace run … --on-hold /path/to/desktop-end.sh
set -eu
title="millrace: exit code $MILLRACE_EXIT_CODE"
if command -v notify-send >/dev/null; then
  notify-send -- "$title" "$MILLRACE_REASON"
else
  # macOS: the texts are arguments, so that nothing in them is taken for a script.
  osascript -e 'on run argv' -e 'display notification (item 2 of argv) with title (item 1 of argv)' \
    -e 'end run' "$title" "$MILLRACE_REASON"
fi
