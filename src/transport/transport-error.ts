import { MillraceError } from '../contract/millrace-error.js';

/** The phase in which an exchange broke. `tls`: verification failed. `too-large`: the reply passed its byte cap. */
export type FaultPhase =
  'lookup' | 'connect' | 'tls' | 'secure-connect' | 'send' | 'response' | 'read' | 'too-large' | 'reset';

/** An exchange that brought no reply. Carries no headers, so no key: a client's own error never leaves the transport. */
export class TransportError extends MillraceError {
  static override readonly name: string = 'TransportError';

  constructor(
    readonly phase: FaultPhase,
    /** The system's code where there is one: ECONNREFUSED, ENOTFOUND, ECONNRESET, ETIMEDOUT … */
    readonly systemCode: string | undefined,
    /** `no`: provably nothing of the request reached the service. `maybe`: it may have. */
    readonly sent: 'no' | 'maybe',
    readonly timedOut: boolean,
    message: string,
  ) {
    super('transport', message);
  }
}
