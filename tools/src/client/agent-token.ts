import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'

type AgentClient = {
  readonly clientId: string
  readonly clientSecret: string
  readonly tokenUrl: string
  readonly resource: string
}

/** Returns an access token for a program that acts on behalf of the customer without a user. */
export async function fetchAgentToken(
  client: TollgateClient,
  named: { readonly customerRef: string; readonly productRef: string },
): Promise<string> {
  const agent = (await client.require('POST', '/v1/customer/auth/clients', named)) as AgentClient
  const credentials = Buffer.from(`${agent.clientId}:${agent.clientSecret}`).toString('base64')
  const response = await fetch(agent.tokenUrl, {
    method: 'POST',
    headers: { authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: agent.resource }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.status} ${text}`)
  return (JSON.parse(text) as { access_token: string }).access_token
}
