import type { McpBootstrappedBody } from '@tollgate/schemas/http/mcp'
import type { TollgateClient } from '../../../src/client/tollgate-client.ts'
import { openPlayer } from './player.ts'
import type { World } from './world.ts'

/** A provider with parts that all its products share: another product, one of the live environment, and one used to wait. */
export type Market = {
  readonly world: World
  readonly client: TollgateClient
  /** Unique name. */
  readonly name: string
  /** A token for another product of the provider. */
  readonly otherToken: string
  readonly live: { readonly url: string; readonly token: string; readonly client: TollgateClient }
  readonly waiting: { readonly url: string; readonly productRef: string; readonly limit: number }
}

const waitingLimit = 1_000_000

export async function openMarket(world: World): Promise<Market> {
  const { sandbox: client, live } = await world.stack.createProvider()
  const waiting = await bootstrap(client, world.origin.urlOf('waiting'))
  const liveServer = await bootstrap(live, 'https://origin.example/mcp')
  const { token } = await openPlayer(world, live, liveServer.productRef, 'live')
  const other = await bootstrap(client, world.origin.urlOf('other'))
  const { token: otherToken } = await openPlayer(world, client, other.productRef)
  return {
    ...{ world, client, otherToken, name: waiting.productRef },
    live: { url: liveServer.url, token, client: live },
    waiting: { ...waiting, limit: waitingLimit },
  }
}

async function bootstrap(client: TollgateClient, originUrl: string) {
  const free = { key: 'free', name: 'Free', price: 0, currency: 'USD', limit: waitingLimit }
  const made = (await client.require('POST', '/v1/sdk/products/mcp/bootstrap', {
    ...{ originUrl, name: originUrl, plans: [free] },
    tools: [{ name: 'wait', planKeys: ['free'] }],
  })) as McpBootstrappedBody
  return { productRef: made.product.reference, url: made.mcpServer.mcpProxyUrl }
}
