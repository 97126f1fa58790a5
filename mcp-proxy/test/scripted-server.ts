import { afterAll, beforeEach } from 'vitest'
import { ProxyStack, type NewServer } from './proxy-stack.ts'
import { respondAsServer, startScriptedOrigin } from './scripted-origin.ts'

/**
 * Starts a proxy with one server in front of a scripted origin.
 * Resets the gate and the origin before each test of the file, and stops everything after the last one.
 */
export async function startScriptedServer(
  settings: Record<string, string> = {},
  { connectionsMax, originKey }: Pick<NewServer, 'originKey'> & { connectionsMax?: number } = {},
) {
  const stack = await ProxyStack.start(settings, connectionsMax)
  const origin = await startScriptedOrigin()
  const originUrl = origin.url
  const server = await stack.addServer(originKey ? { originUrl, originKey } : { originUrl })
  beforeEach(() => {
    stack.gate.reset()
    origin.seen.length = 0
    origin.respond = respondAsServer()
  })
  afterAll(async () => {
    await stack.stop()
    await origin.stop()
  })
  return { stack, origin, server, token: await stack.token(server) }
}
