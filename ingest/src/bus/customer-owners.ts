import { Recent } from '@tollgate/platform/memory/recent'
import type { Environment } from '@tollgate/schemas/environment'
import {
  askedOwnersMax,
  customerOwnersPath,
  customerOwnersResponseSchema,
  type CustomerOwnersInput,
} from '@tollgate/schemas/http/customer-owners'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { AskControlPlane } from '../domain/ask-control-plane.ts'

/** Whose customer a reference names; 'unavailable': nobody can tell now. */
export type Owner = KeyHolder | 'unknown' | 'ambiguous' | 'unavailable'

export type CustomerOwnersOptions = {
  readonly ask: AskControlPlane
  /** What the control plane knows the caller by. */
  readonly token: string
  /** The only provider whose customers may be named; undefined: all. */
  readonly providerId: string | undefined
  /** The only environment whose customers may be named; undefined: both. */
  readonly environment: Environment | undefined
  readonly freshMs: number
  readonly customersMax: number
}

type Known = { readonly holder: KeyHolder; readonly readAtMs: number }

/**
 * The providers and environments of customers, asked of the control plane and kept. A customer never moves to another
 * provider, so what is known stays in use while the control plane is away. A reference that is not found is asked for again
 * each time, because its customer may be created at any moment.
 */
export class CustomerOwners {
  readonly #options: CustomerOwnersOptions
  readonly #known: Recent<Known>

  constructor(options: CustomerOwnersOptions) {
    this.#options = options
    this.#known = new Recent(options.customersMax)
  }

  async find(references: ReadonlySet<string>): Promise<ReadonlyMap<string, Owner>> {
    const owners = new Map<string, Owner>()
    const asked: string[] = []
    const now = performance.now()
    for (const reference of references) {
      const known = this.#known.get(reference)
      if (known !== undefined && now - known.readAtMs < this.#options.freshMs) {
        owners.set(reference, known.holder)
      } else asked.push(reference)
    }
    const chunks: string[][] = []
    for (let at = 0; at < asked.length; at += askedOwnersMax) {
      chunks.push(asked.slice(at, at + askedOwnersMax))
    }
    await Promise.all(chunks.map((chunk) => this.#askFor(chunk, owners)))
    return owners
  }

  async #askFor(references: string[], owners: Map<string, Owner>): Promise<void> {
    const found = await this.#ask(references)
    references.forEach((reference, index) => {
      const owner = found?.[index] ?? this.#known.get(reference)?.holder ?? 'unavailable'
      owners.set(reference, owner)
      if (found !== undefined) this.#remember(reference, owner)
    })
  }

  /** Undefined: the control plane cannot answer now. */
  async #ask(references: string[]): Promise<Owner[] | undefined> {
    const { ask, token, providerId, environment } = this.#options
    const body: CustomerOwnersInput = { references, providerId }
    try {
      const answer = await ask(customerOwnersPath, `Bearer ${token}`, JSON.stringify(body))
      if (answer.status !== 200) return undefined
      const { owners } = customerOwnersResponseSchema.parse(JSON.parse(answer.body))
      return owners.map((all) => {
        const [only, ...others] = all.filter(
          (each) => (environment ?? each.environment) === each.environment,
        )
        if (only === undefined) return 'unknown'
        return others.length === 0 ? only : 'ambiguous'
      })
    } catch {
      return undefined
    }
  }

  #remember(reference: string, owner: Owner): void {
    if (typeof owner === 'string') this.#known.delete(reference)
    else this.#known.set(reference, { holder: owner, readAtMs: performance.now() })
  }
}
