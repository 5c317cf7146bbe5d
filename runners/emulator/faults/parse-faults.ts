import { EmulatorOptionError } from '../settings/emulator-option-error.js';
import {
  faultKind,
  type FaultKind,
  faultNames,
  type Fault,
  type FaultRule,
  type Operation,
  operations,
} from './fault.js';

/**
 * Reads faults by probability: entries `NAME[@OPERATION[+OPERATION]]=PROBABILITY[:VALUE]` with commas between, as in
 * `429=0.1:2,cut@status=0.05,reset-after@run=0.01,price=0.05:1.2,picture-500=0.1`. `picture-NAME` is `NAME@picture`.
 * @throws EmulatorOptionError that names the entry and its problem
 */
export function parseFaults(text: string): FaultRule[] {
  return entriesOf(text).map((entry) => {
    const [head, tail] = splitOnce(entry, '=');
    const [probability, value] = splitOnce(tail ?? '', ':');
    const [name, on] = readHead(entry, head);
    const kind = kindOf(entry, name);
    return {
      fault: buildFault(entry, kind, value),
      on: new Set(on === undefined ? kind.usual : on.map((each) => operationOf(entry, kind, each))),
      probability: probabilityOf(entry, probability),
    };
  });
}

/**
 * Reads faults that are certain, without probabilities: `cut`, or `429:2`, or several with commas between.
 * @throws EmulatorOptionError as `parseFaults` does
 */
export function parseCertainFaults(text: string): Fault[] {
  return entriesOf(text).map((entry) => {
    const [name, value] = splitOnce(entry, ':');
    return buildFault(entry, kindOf(entry, name), value);
  });
}

function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readHead(entry: string, head: string): [name: string, on: string[] | undefined] {
  const [name, on] = splitOnce(head, '@');
  if (!name.startsWith('picture-')) return [name, on?.split('+')];
  if (on !== undefined) throw problem(entry, 'names its operation twice');
  return [name.slice('picture-'.length), ['picture']];
}

function kindOf(entry: string, name: string): FaultKind {
  const kind = faultKind(name);
  if (kind === undefined)
    throw problem(
      entry,
      `has an unknown fault ${JSON.stringify(name)}; there are ${faultNames().join(', ')}`,
    );
  return kind;
}

function buildFault(entry: string, kind: FaultKind, value: string | undefined): Fault {
  const wrong = kind.check(value);
  if (wrong !== undefined) throw problem(entry, wrong);
  return { name: kind.name, phase: kind.phase, ...(value !== undefined && { value }) };
}

function operationOf(entry: string, kind: FaultKind, name: string): Operation {
  const operation = operations.find((each) => each === name);
  if (operation === undefined)
    throw problem(entry, `names no operation ${JSON.stringify(name)}; there are ${operations.join(', ')}`);
  if (!kind.possible.includes(operation)) throw problem(entry, `happens only on ${kind.possible.join(', ')}`);
  return operation;
}

function probabilityOf(entry: string, text: string): number {
  const probability = Number(text);
  if (text.trim() === '' || !(probability >= 0 && probability <= 1))
    throw problem(entry, 'needs a probability from 0 to 1 behind "=", as in cut=0.05');
  return probability;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function problem(entry: string, what: string): EmulatorOptionError {
  return new EmulatorOptionError(`fault ${JSON.stringify(entry)} ${what}`);
}

/** The facts about a request before its body is read. */
export interface ServiceRequest {
  operation: Operation;
  /** The endpoint's id, or a route's method and path: `POST /echo`. */
  endpoint?: string;
  jobId?: string;
}

/** Faults for one request: at most one for its reply, any number for the job that it submits. */
export interface DrawnFaults {
  reply?: Fault;
  job: readonly Fault[];
}

/** Chooses the faults of a request: `cut`, `429:2`, several with commas, or the empty string to let the rules decide. */
export type FaultOf = (request: ServiceRequest) => string | undefined;

/** Draws each rule in order; the first fault for the reply counts. A choice of `faultOf` comes before the rules. */
export function drawFaults(options: {
  rules: readonly FaultRule[];
  faultOf?: FaultOf | undefined;
  random: () => number;
}): (request: ServiceRequest) => DrawnFaults {
  const { rules, faultOf, random } = options;
  const drawn = ({ operation }: ServiceRequest): Fault[] =>
    rules.filter((rule) => rule.on.has(operation) && random() < rule.probability).map((rule) => rule.fault);
  return (request) => {
    const picked = faultOf?.(request);
    return sortOut(picked === undefined ? drawn(request) : parseCertainFaults(picked));
  };
}

function sortOut(faults: readonly Fault[]): DrawnFaults {
  const reply = faults.find((fault) => fault.phase !== 'job');
  return { ...(reply && { reply }), job: faults.filter((fault) => fault.phase === 'job') };
}
