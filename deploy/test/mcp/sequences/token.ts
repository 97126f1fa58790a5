import type { TollgateClient } from '../../../src/client/tollgate-client.ts'

/** A program that acts on behalf of a customer. */
export type Agent = {
  readonly clientId: string
  readonly clientSecret: string
  readonly tokenUrl: string
  readonly resource: string
}

export async function openAgent(
  client: TollgateClient,
  customerRef: string,
  productRef: string,
): Promise<Agent> {
  const named = { customerRef, productRef }
  return (await client.require('POST', '/v1/customer/auth/clients', named)) as Agent
}

export async function fetchToken(agent: Agent): Promise<string> {
  const { resource } = agent
  const text = await post(agent, agent.tokenUrl, { grant_type: 'client_credentials', resource })
  return (JSON.parse(text) as { access_token: string }).access_token
}

export async function revokeToken(agent: Agent, token: string): Promise<void> {
  await post(agent, agent.tokenUrl.replace(/token$/, 'revoke'), { token })
}

async function post(
  { clientId, clientSecret }: Agent,
  url: string,
  form: Record<string, string>,
): Promise<string> {
  const credentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  for (;;) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${credentials}`, connection: 'close' },
      body: new URLSearchParams(form),
    }).catch(() => undefined)
    // The proxy is restarting.
    if (response === undefined || response.status === 503) continue
    const text = await response.text()
    if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
    return text
  }
}
