import { Recent } from '@tollgate/platform/memory/recent'
import type { Environment } from '@tollgate/schemas/environment'
import {
  ownersReferencesMax,
  customerOwnersPath,
  customerOwnersResponseSchema,
  type CustomerOwnersInput,
} from '@tollgate/schemas/http/customer-owners'
import type { KeyHolder } from '../domain/key-holder.ts'
import type { CallControlPlane } from '../domain/call-control-plane.ts'

/** The provider and environment of a customer reference. 'unavailable': the control plane cannot be reached now. */
export type Owner = KeyHolder | 'unknown' | 'ambiguous' | 'unavailable'

export type CustomerOwnersOptions = {
  readonly callControlPlane: CallControlPlane
  /** Credential with which the control plane recognizes ingest. */
  readonly token: string
  /** The only provider whose customers messages may name, or undefined for all providers. */
  readonly providerId: string | undefined
  /** The only environment whose customers messages may name, or undefined for both. */
  readonly environment: Environment | undefined
  readonly freshMs: number
  readonly customersMax: number
}

type Known = { readonly holder: KeyHolder; readonly readAtMs: number }

/**
 * Reads the providers and environments of customers from the control plane and caches them. A customer never moves to another
 * provider, so cached results stay in use while the control plane is away. A reference that was not found is looked up again each
 * time, because its customer may be created at any moment.
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
    const missing: string[] = []
    const now = performance.now()
    for (const reference of references) {
      const known = this.#known.get(reference)
      if (known !== undefined && now - known.readAtMs < this.#options.freshMs) {
        owners.set(reference, known.holder)
      } else missing.push(reference)
    }
    const chunks: string[][] = []
    for (let at = 0; at < missing.length; at += ownersReferencesMax) {
      chunks.push(missing.slice(at, at + ownersReferencesMax))
    }
    await Promise.all(chunks.map((chunk) => this.#lookUp(chunk, owners)))
    return owners
  }

  async #lookUp(references: string[], owners: Map<string, Owner>): Promise<void> {
    const found = await this.#readOwners(references)
    references.forEach((reference, index) => {
      const owner = found?.[index] ?? this.#known.get(reference)?.holder ?? 'unavailable'
      owners.set(reference, owner)
      if (found !== undefined) this.#remember(reference, owner)
    })
  }

  /** Returns undefined if the control plane cannot answer now. */
  async #readOwners(references: string[]): Promise<Owner[] | undefined> {
    const { callControlPlane, token, providerId, environment } = this.#options
    const body: CustomerOwnersInput = { references, providerId }
    try {
      const answer = await callControlPlane(
        customerOwnersPath,
        `Bearer ${token}`,
        JSON.stringify(body),
      )
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
