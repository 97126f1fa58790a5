import { Recent } from '@tollgate/platform/memory/recent'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { FreshCache, type FreshCacheOptions } from './fresh-cache.ts'
import type { ServedServer } from './served-server.ts'
import { SubdomainLookups } from './subdomain-lookups.ts'

export type ServerSource = {
  readonly load: (environment: Environment, subdomain: string) => Promise<ServedServer | undefined>
  /** Returns the subdomains that exist. */
  readonly listKnown: (
    environment: Environment,
    subdomains: readonly string[],
  ) => Promise<ReadonlySet<string>>
}

/**
 * The servers by subdomain. Any caller can request any number of unknown subdomains. Unknown ones are therefore stored separately,
 * where they evict no server from memory, and are looked up in batches. A subdomain that gets a server is found after `freshMs`.
 */
export class ServerDirectory {
  readonly #options: FreshCacheOptions
  readonly #servers: FreshCache<ServedServer | undefined>
  /** Times at which a subdomain was read and had no server. */
  readonly #absent: Recent<number>
  readonly #lookups: ReadonlyMap<Environment, SubdomainLookups>

  constructor(options: FreshCacheOptions, { load, listKnown }: ServerSource) {
    this.#options = options
    this.#absent = new Recent(options.entriesMax)
    this.#servers = new FreshCache(options, (key) => load(...placeOf(key)))
    this.#lookups = new Map(
      environments.map((environment) => [
        environment,
        new SubdomainLookups((subdomains) => listKnown(environment, subdomains)),
      ]),
    )
  }

  /** Returns undefined if no server has the subdomain. Rejects if a subdomain that is not in memory cannot be looked up. */
  async get(environment: Environment, subdomain: string): Promise<ServedServer | undefined> {
    const key = keyOf(environment, subdomain)
    if (this.#servers.has(key)) return this.#servers.get(key)
    const { clock, freshMs } = this.#options
    const absentAt = this.#absent.get(key)
    const now = clock.now()
    if (absentAt !== undefined && now - absentAt < freshMs) return undefined
    if (await this.#lookups.get(environment)!.isKnown(subdomain)) return this.#servers.get(key)
    this.#absent.set(key, now)
    return undefined
  }
}

function keyOf(environment: Environment, subdomain: string): string {
  return `${environment} ${subdomain}`
}

function placeOf(key: string): [Environment, string] {
  return key.split(' ') as [Environment, string]
}
