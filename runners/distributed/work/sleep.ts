import { firstValueFrom, timer, type SchedulerLike } from 'rxjs';

export async function sleep(forMs: number, scheduler: SchedulerLike): Promise<void> {
  if (forMs > 0) await firstValueFrom(timer(forMs, scheduler));
}
