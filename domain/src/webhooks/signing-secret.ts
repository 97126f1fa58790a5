import { referencePrefixes, type EntropySource } from '@tollgate/schemas/references'

/** Number of random bytes, the same as the length of the digest. */
const secretBytes = 32

/** Returns a signing secret for an endpoint's deliveries. Receivers use the whole text as the key of the digest. */
export function newSigningSecret(entropy: EntropySource): string {
  return referencePrefixes.webhookSecret + Buffer.from(entropy(secretBytes)).toString('hex')
}

/** Returns the place of the secret's column, to which its seal is bound. */
export function signingSecretPlace(providerId: string) {
  return { table: 'webhook_secrets', column: 'secret', owner: providerId } as const
}
