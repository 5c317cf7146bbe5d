#!/bin/sh
# Runs the rows that were added to a manifest since the last run, and mails a person only when one is needed.
#
#   nightly.sh MANIFEST [OPTION of millrace run …]
#
# MILLRACE               the command                                (millrace)
# MILLRACE_MAIL_TO       who gets the mail                          (the user that runs this)
# MILLRACE_TRIES         tries while the service is not reached     (4)
# MILLRACE_PAUSE         seconds between the tries                  (900)
#
# It exits with 0 when no person is needed, else with the exit code of millrace.
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

# A stop by systemd, a shutdown or Ctrl-C reaches millrace too, which awaits the replies that are paid for. This script has to
# outlive it: systemd kills at once whatever is left when the script has ended.
stopped=
trap 'stopped=yes' HUP INT TERM

while :; do
  # Not quoted on purpose: the command may be of several words.
  # shellcheck disable=SC2086
  said=$($millrace run "$manifest" --quiet "$@" 2>&1)
  code=$?
  tries=$((tries - 1))
  [ "$code" -eq 69 ] && [ "$tries" -gt 0 ] && [ -z "$stopped" ] || break
  sleep "$pause"
  [ -z "$stopped" ] || { code=143 && break; }
done

case $code in
  0) [ -z "$said" ] || tell 'done, with a remark' ;;
  1) tell 'some rows failed' ;;
  2) tell 'it could not start: options, configuration or manifest' ;;
  3) tell 'stopped at a cap, or at a price that was not agreed to' ;;
  4) tell 'no row can succeed: look at the key, the endpoint, the certificate' ;;
  5) tell 'stopped: too many rows failed' ;;
  6) tell 'rows are in doubt: they may have been charged, a person must decide' ;;
  69) tell 'the service is away: the next night goes on' ;;
  74) tell 'the disk or the journal' ;;
  75)
    case $said in
      *'Wait for its end'*) code=0 ;; # Last night's run is still working.
      *) tell 'another host or a database may have the run: every night ends so until a person has looked' ;;
    esac
    ;;
  129 | 130 | 143) code=0 ;; # The machine goes down: the next night goes on.
  *) tell 'a fault' ;;
esac
exit "$code"
