import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type Provider from 'oidc-provider'
import type { InteractionResults } from 'oidc-provider'
import { environmentNamed } from '@tollgate/schemas/environment'
import { customerScopes, defaultScope, shownNameOf } from './client-metadata.ts'
import type { Issuer, Issuers } from './issuers.ts'

type Interaction = InstanceType<Provider['Interaction']>

/** An authorization request of a client that waits for a person to sign in and to consent. */
export type OpenInteraction = {
  readonly issuer: Issuer
  readonly interaction: Interaction
  readonly client: {
    readonly clientId: string
    readonly name: string | undefined
    readonly redirectUri: string
    readonly scopes: readonly string[]
  }
}

/**
 * Finds an open interaction. `sid` consists of the environment, the subdomain and the id of the interaction. Returns undefined if
 * the interaction has ended or never existed.
 */
export async function findInteraction(
  issuers: Issuers,
  sid: string,
): Promise<OpenInteraction | undefined> {
  const [name, subdomain, uid, ...rest] = sid.split('.')
  const environment = environmentNamed(name)
  if (environment === undefined || subdomain === undefined || !uid || rest.length > 0) {
    return undefined
  }
  const issuer = await issuers.find(environment, subdomain)
  const interaction = await issuer?.provider.Interaction.find(uid)
  if (issuer === undefined || interaction === undefined) return undefined
  const { client_id: clientId, redirect_uri: redirectUri, scope } = interaction.params
  const client = await issuer.provider.Client.find(String(clientId))
  if (client === undefined) return undefined
  const requestedScopes = typeof scope === 'string' ? scope.split(' ') : []
  return {
    issuer,
    interaction,
    client: {
      clientId: client.clientId,
      name: shownNameOf(client.clientName),
      redirectUri: String(redirectUri),
      scopes: customerScopes.filter((each) => requestedScopes.includes(each)),
    },
  }
}

/**
 * Lets the client act for the customer. Returns the address to which the browser must go next. The grant takes effect when the
 * browser arrives there. A crash before that leaves a grant without tokens.
 */
export async function allowClient(open: OpenInteraction, customerRef: string): Promise<string> {
  const { issuer, client } = open
  const grant = new issuer.provider.Grant({ accountId: customerRef, clientId: client.clientId })
  // A client that requests no supported scope still gets a token for the resource, with the default scope.
  const scope = client.scopes.join(' ') || defaultScope
  grant.addOIDCScope(scope)
  grant.addResourceScope(issuer.address.proxyUrl, scope)
  const grantId = await grant.save()
  return saveResult(open, {
    login: { accountId: customerRef, remember: false },
    consent: { grantId },
  })
}

export function refuseClient(open: OpenInteraction): Promise<string> {
  return saveResult(open, {
    error: 'access_denied',
    error_description: 'The customer did not allow the client.',
  })
}

/**
 * Saves the answer and returns the address to which the browser must go next. The address contains a proof that only this browser
 * gets. Without the proof, an attacker could start a request, have a victim answer it, and collect the code for the victim's
 * account.
 */
async function saveResult({ interaction }: OpenInteraction, result: InteractionResults) {
  const proof = randomBytes(32).toString('base64url')
  interaction.result = { ...result, proofSha256: digestOf(proof) }
  // The lifetime is at least 1 second, also in the last second of the interaction. An interaction without a lifetime would never
  // expire.
  await interaction.save(Math.max(1, interaction.exp - Math.floor(Date.now() / 1_000)))
  const address = new URL(interaction.returnTo)
  address.searchParams.set('proof', proof)
  return address.href
}

export function isValidProof({ result }: Interaction, proof: string | null): boolean {
  const expected = result?.['proofSha256']
  if (typeof expected !== 'string' || proof === null) return false
  return timingSafeEqual(Buffer.from(expected), Buffer.from(digestOf(proof)))
}

function digestOf(proof: string): string {
  return createHash('sha256').update(proof).digest('hex')
}
