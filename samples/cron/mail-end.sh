#!/bin/sh
# Mails how a run has ended: millrace run … --on-end /path/to/mail-end.sh
# MILLRACE_MAIL_TO: who gets it (the user that runs this). millrace sets the other variables.
set -eu
{
  printf '%s\n\n' "$MILLRACE_REASON"
  printf 'exit code %s, %s on %s\n' "$MILLRACE_EXIT_CODE" "$MILLRACE_OUT" "$(uname -n)"
} | mail -s "millrace: exit code $MILLRACE_EXIT_CODE" "${MILLRACE_MAIL_TO:-$(id -un)}"
