import { expect } from 'vitest'
import { statelessMeta } from './call-tool.ts'
import { send, type HttpCall } from './http-call.ts'
import { expectedOutcome, type Party } from './party.ts'
import type { Player } from './player.ts'
import { nextMark } from './play-call.ts'
import type { Step } from './step.ts'
import { fetchToken, revokeToken } from './token.ts'

type Played<Do extends Step['do']> = Extract<Step, { readonly do: Do }>

type Sent = Pick<HttpCall, 'body'> & Partial<Pick<HttpCall, 'headers' | 'url' | 'token'>>

/** Sends a message that tries to run a tool without a call. Nothing may run, and nothing may be recorded. */
export async function playSmuggle(party: Party, step: Played<'smuggle'>): Promise<void> {
  const mark = nextMark(party)
  const sent = smuggledMessage(step, { mark, ending: 'result' })
  await expectNothing(party, party.players[step.who]!, step.proxy, mark, sent)
}

function smuggledMessage({ how, tool: name }: Played<'smuggle'>, given: object): Sent {
  const params = { name, arguments: given }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { id: _, ...notification } = call
  const text = JSON.stringify(call)
  const headers = {
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  }
  const stateless = { ...params, _meta: statelessMeta() }
  switch (how) {
    case 'notification':
      return { body: notification }
    case 'null id':
      return { body: { ...call, id: null } }
    case 'second name':
      return { body: text.replace('"name":', '"name":"open","name":') }
    case 'name in other letters':
      return { body: text.replace('"name":', '"Name":"open","name":') }
    case 'other name in the header':
      return { headers: { ...headers, 'mcp-name': 'other' }, body: { ...call, params: stateless } }
    case 'notification in a batch':
      return { body: [{ jsonrpc: '2.0', id: 2, method: 'ping' }, notification] }
    case 'result beside a method':
      return { body: { ...notification, result: {} } }
    case 'task':
      return { body: { ...call, params: { ...params, task: { ttl: 1 } } } }
    case 'made-up state':
      return { headers, body: { ...call, params: { ...stateless, requestState: 'first' } } }
  }
}

export async function playStranger(party: Party, step: Played<'stranger'>): Promise<void> {
  const { market, players, tools } = party
  const mark = nextMark(party)
  const player = players[step.who]!
  const params = { name: step.tool, arguments: { mark, ending: 'result' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const expectNone = (sent: Omit<Sent, 'body'>): Promise<void> =>
    expectNothing(party, player, step.proxy, mark, { body, ...sent })
  switch (step.how) {
    case 'no token': {
      // A server whose tools are all public needs no token.
      const isOpen =
        tools.size > 0 && [...tools.values()].every(({ access }) => access === 'public')
      if (isOpen && expectedOutcome(party, player, step.tool) === 'open') return
      return expectNone({ token: undefined })
    }
    case 'made-up token':
      return expectNone({ token: `${player.token.slice(0, -8)}AAAAAAAA` })
    case 'token of another product':
      return expectNone({ token: market.otherToken })
    case 'token of the other environment':
      await expectNone({ token: market.live.token })
      return expectNone({ url: market.live.url })
    case 'revoked token': {
      const { token, agent } = player
      if (party.isDeleted || !player.areTokensIssued) return
      await revokeToken(agent, token)
      player.token = await fetchToken(agent)
      await market.world.untilNoticed()
      return expectNone({ token })
    }
    case 'session of another customer': {
      const headers = players[1 - step.who]!.sessions.get('opens none')
      return headers === undefined ? undefined : expectNone({ headers })
    }
  }
}

/** Checks that the customer's expired token and sessions are refused. */
export async function expectExpired(party: Party, player: Player): Promise<void> {
  const mark = nextMark(party)
  const params = { name: 'basic', arguments: { mark, ending: 'result' } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  await expectNothing(party, player, 0, mark, { body })
  const headers = player.sessions.get('opens none')
  const token = await party.market.world.renewToken(player.token)
  if (headers !== undefined) await expectNothing(party, player, 1, mark, { body, headers, token })
  player.sessions.clear()
}

async function expectNothing(
  party: Party,
  player: Player,
  proxy: number,
  mark: string,
  sent: Sent,
): Promise<void> {
  const { world } = party.market
  const reply = await send({
    ...{ port: world.portOf(proxy), url: party.url, token: player.token },
    ...sent,
  })
  expect(world.origin.executionsOf(mark), JSON.stringify(reply)).toBe(0)
  if (reply.kind !== 'answered') return
  const isRefused = reply.status >= 400 || 'error' in reply.body
  expect(isRefused, JSON.stringify(reply)).toBe(true)
}

const names = { get_user_info: 'user', upgrade: 'url', manage_account: 'url', topup: 'url' }

/** Calls a tool of the proxy. It must only show the customer's own data, whatever the arguments contain, and is not recorded. */
export async function playVirtual(party: Party, step: Played<'virtual tool'>): Promise<void> {
  if (party.isDeleted) return
  const { market, url } = party
  const player = party.players[step.who]!
  const other = party.players[1 - step.who]!
  const { name } = step
  const given = { customerRef: other.reference, customer: other.reference }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
  const port = market.world.portOf(step.proxy)
  const reply = await send({ port, url, token: player.token, body })
  if (reply.kind !== 'answered') return
  const result = reply.body['result'] as { isError?: boolean; content: { text: string }[] }
  const text = result.content[0]!.text
  expect(text).not.toContain(other.reference)
  if (result.isError !== true) expect(text).toContain(`"${names[name as keyof typeof names]}"`)
  if (name === 'get_user_info' && result.isError !== true) expect(text).toContain(player.reference)
}
