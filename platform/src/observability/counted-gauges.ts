import { environments, type Environment } from '@tollgate/schemas/environment'
import { Gauge, type Registry } from './metrics.ts'

/** Name and help text of a gauge. */
type Described = { readonly name: string; readonly help: string }

/**
 * Registers gauges whose values one count returns. Each scrape counts once in each environment, which is the label `space`. If the count
 * fails for an environment, its gauges are omitted; the other metrics are not affected.
 */
export function registerCountedGauges<Key extends string>(
  registry: Registry,
  count: (space: Environment) => Promise<Readonly<Record<Key, number>>>,
  gauges: Readonly<Record<Key, Described>>,
): void {
  type Counts = Readonly<Record<Key, number>>
  type Counted = { readonly space: Environment; readonly counts: Counts | undefined }

  const countIn = async (space: Environment): Promise<Counted> => {
    try {
      return { space, counts: await count(space) }
    } catch {
      return { space, counts: undefined }
    }
  }
  // The registry collects gauges concurrently, so the gauges of one scrape share one count.
  let counting: Promise<Counted[]> | undefined
  const counted = (): Promise<Counted[]> => {
    counting ??= Promise.all(environments.map(countIn)).finally(() => (counting = undefined))
    return counting
  }
  for (const [key, described] of Object.entries<Described>(gauges)) {
    new Gauge({
      ...described,
      labelNames: ['space'] as const,
      registers: [registry],
      async collect() {
        for (const { space, counts } of await counted()) {
          if (counts === undefined) this.remove({ space })
          else this.set({ space }, counts[key as Key])
        }
      },
    })
  }
}
