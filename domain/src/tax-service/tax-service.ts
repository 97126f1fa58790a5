import type { taxServicePolicies } from '@tollgate/schemas/http/tax-service'

/** How invoices are made while the tax service does not answer. `hold`: they wait for its answer. `built_in`: by the built-in rule. */
export type TaxServicePolicy = (typeof taxServicePolicies)[number]

/** The server of a provider that decides its taxes. */
export type TaxService = {
  readonly url: string
  /** The sealed secret that signs requests. */
  readonly sealedSecret: string
  readonly onFailure: TaxServicePolicy
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Returns the place of the secret's column, to which its seal is bound. */
export function taxServiceSecretPlace(providerId: string) {
  return { table: 'tax_services', column: 'secret', owner: providerId } as const
}
