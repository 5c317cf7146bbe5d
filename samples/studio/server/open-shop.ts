import {
  BehaviorSubject,
  defer,
  finalize,
  firstValueFrom,
  ReplaySubject,
  Subject,
  takeUntil,
  filter,
  timeout,
  type Observable,
} from 'rxjs';
import {
  createBudget,
  createClient,
  pollFixed,
  imageEditPrices,
  toUsd,
  withinBudget,
  type ImageEditInput,
  type ImageEditOutput,
  type JobEvent,
} from 'millrace';
import type { Money } from '../messages.js';

export interface ShopOptions {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly capUsd: number;
  /** The service is the emulator. */
  readonly isRehearsal: boolean;
}

/** Where edits are bought, all under one cap. */
export interface Shop {
  readonly money$: Observable<Money>;
  /** Subscribing buys; unsubscribing cancels the job at the service, also while its id is on the way. */
  buy(input: ImageEditInput): Observable<JobEvent<ImageEditOutput>>;
  /** Waits for cancelled jobs to end, two seconds at most. */
  close(): Promise<void>;
}

export function openShop({ apiKey, baseUrl, capUsd, isRehearsal }: ShopOptions): Shop {
  const edits = createClient({ apiKey, baseUrl }).imageEdit('image-edit', { poll: pollFixed(200) });
  const budget = createBudget(capUsd);
  const moneyNow = (): Money => ({ ...moneyOf(budget.state()), isRehearsal });
  const money$ = new BehaviorSubject(moneyNow());
  const underWay$ = new BehaviorSubject(0);
  const closed$ = new Subject<void>();
  return {
    money$: money$.asObservable(),
    buy: (input) =>
      defer(() => {
        const job = edits.run(input);
        const priceUsd = toUsd(imageEditPrices[input.resolution ?? '1k']);
        const events = new ReplaySubject<JobEvent<ImageEditOutput>>();
        // The books follow a job to its end, also when nobody looks any more: only then is it known what it cost.
        underWay$.next(underWay$.value + 1);
        job
          .pipe(
            withinBudget(budget, priceUsd),
            takeUntil(closed$),
            finalize(() => underWay$.next(underWay$.value - 1)),
          )
          .subscribe({
            next: (event) => {
              money$.next(moneyNow());
              events.next(event);
            },
            error: (error: unknown) => events.error(error),
            complete: () => events.complete(),
          });
        return events.pipe(finalize(() => void job.cancel()));
      }),
    async close() {
      const quiet = underWay$.pipe(
        filter((jobs) => jobs === 0),
        timeout({ first: 2_000, with: () => [0] }),
      );
      await firstValueFrom(quiet);
      closed$.next();
    },
  };
}

function moneyOf(state: {
  capUsd: number;
  spentUsd: number;
  reservedUsd: number;
  unknownUsd: number;
}): Omit<Money, 'isRehearsal'> {
  const { capUsd, spentUsd, reservedUsd, unknownUsd } = state;
  return { capUsd, spentUsd, heldUsd: reservedUsd + unknownUsd };
}
