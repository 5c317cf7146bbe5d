#!/bin/sh
# Says in Slack how a run has ended: millrace run … --on-end /path/to/slack-end.sh
# SLACK_WEBHOOK_URL: an incoming webhook. Slack wants its own JSON, so --notify alone does not do.
set -eu
text=$(printf '%s (exit code %s)' "$MILLRACE_REASON" "$MILLRACE_EXIT_CODE" |
  tr '\n\t' '  ' | sed 's/\\/\\\\/g; s/"/\\"/g')
# The address is a secret: it goes through stdin, where the list of processes does not show it.
printf 'url = "%s"\n' "$SLACK_WEBHOOK_URL" |
  curl --silent --show-error --fail --max-time 20 --retry 3 --config - \
    --header 'Content-Type: application/json' --data "{\"text\":\"$text\"}" --output /dev/null
