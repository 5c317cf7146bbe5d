#!/bin/sh
# Does what was added to a manifest since it was last done, and tells a person only where one is needed.
#
#   nightly.sh MANIFEST [OPTION of millrace run …]
#
# MILLRACE               the command                                (millrace)
# MILLRACE_MAIL_TO       who is told                                (the user that runs this)
# MILLRACE_TRIES         how often, while the service is away       (4)
# MILLRACE_PAUSE         seconds between those                      (900)
#
# It ends with 0 where nobody is needed, else with the exit code of millrace.
set -u

manifest=${1:?usage: nightly.sh MANIFEST [OPTION of millrace run ...]}
shift
millrace=${MILLRACE:-millrace}
mail_to=${MILLRACE_MAIL_TO:-$(id -un)}
tries=${MILLRACE_TRIES:-4}
pause=${MILLRACE_PAUSE:-900}

tell() {
  printf '%s\n\n%s\n' "$said" "host $(uname -n), $manifest, exit code $code" |
    mail -s "millrace: $1" "$mail_to"
}

while :; do
  # Not quoted on purpose: the command may be of several words.
  # shellcheck disable=SC2086
  said=$($millrace run "$manifest" --quiet "$@" 2>&1)
  code=$?
  tries=$((tries - 1))
  [ "$code" -eq 69 ] && [ "$tries" -gt 0 ] || break
  sleep "$pause"
done

case $code in
  0) [ -z "$said" ] || tell 'done, with a remark' ;;
  1) tell 'some rows failed' ;;
  2) tell 'it could not start: options, configuration or manifest' ;;
  3) tell 'stopped at a cost cap' ;;
  4) tell 'no row can succeed: look at the key, the endpoint, the certificate' ;;
  5) tell 'stopped: too many rows failed' ;;
  6) tell 'rows may have been bought: you decide' ;;
  69) tell 'the service is away: the next night goes on' ;;
  74) tell 'the disk or the journal' ;;
  75) code=0 ;; # The last night is still at it.
  129 | 130 | 143) code=0 ;; # The machine goes down: the next night goes on.
  *) tell 'a fault' ;;
esac
exit "$code"
