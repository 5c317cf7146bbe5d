import * as z from 'zod';

/** The machine, or container, that a process runs on. */
export interface Host {
  readonly name: string;
  /** Changes with each boot; shared by the containers of one kernel. Linux only. */
  readonly bootId?: string | undefined;
  /** Stays over boots. Linux only. */
  readonly machineId?: string | undefined;
  readonly inContainer: boolean;
}

/** Who holds a run, for the message to the next one. */
export interface Owner {
  readonly pid: number;
  readonly host: Host;
  /** ISO time; for people, nothing is decided by it. */
  readonly started: string;
  readonly command: string;
}

export const ownerSchema = z.object({
  pid: z.number(),
  host: z.object({
    name: z.string(),
    bootId: z.string().optional(),
    machineId: z.string().optional(),
    inContainer: z.boolean(),
  }),
  started: z.string(),
  command: z.string(),
});

/**
 * Whether a free lock proves that the owner is dead. It does where both are of one kernel, and on a machine that has been
 * booted since. A container is told by its name and its kernel alone: another one may carry the same name elsewhere.
 */
export function isSameHost(owner: Host, here: Host): boolean {
  if (owner.name !== here.name) return false;
  if (owner.bootId !== undefined && owner.bootId === here.bootId) return true;
  if (owner.inContainer || here.inContainer || owner.machineId !== here.machineId) return false;
  // Of a system that tells its boots, a machine without a name of its own may be any machine.
  return here.machineId !== undefined || (owner.bootId === undefined && here.bootId === undefined);
}
