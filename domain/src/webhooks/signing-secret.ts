import { referencePrefixes, type EntropySource } from '@tollgate/schemas/references'

/** As many as the digest that it keys has. */
const secretBytes = 32

/** What an endpoint's deliveries are signed with; receivers key the digest with the whole text. */
export function newSigningSecret(entropy: EntropySource): string {
  return referencePrefixes.webhookSecret + Buffer.from(entropy(secretBytes)).toString('hex')
}

/** Where it is kept, as its seal knows it. */
export function signingSecretPlace(providerId: string) {
  return { table: 'webhook_secrets', column: 'secret', owner: providerId } as const
}
