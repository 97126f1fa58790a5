import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { JsonObject } from '@tollgate/schemas/json-object'
import {
  callTool,
  outcomeOfReply,
  outcomeOfMessage,
  sendCall,
  type CallOutcome,
  type ToolCall,
} from './call-tool.ts'
import { send } from './http-call.ts'
import type { CallFact } from './ledger.ts'
import { expectedOutcome, remainingUnits, type Expected, type Party } from './party.ts'
import { mayBeHeld, type Player } from './player.ts'
import type { Step } from './step.ts'
import { proxyCount } from './world.ts'

type Played<Do extends Step['do']> = Extract<Step, { readonly do: Do }>

/** Plays a single call of a customer. */
export function playCall(party: Party, step: Played<'call'>): Promise<void> {
  return callOnce(party, step)
}

export async function playRepeat(party: Party, step: Played<'repeat'>): Promise<void> {
  for (let repeat = 0; repeat < step.count; repeat++) {
    const proxy = step.inTurn ? (step.proxy + repeat) % proxyCount : step.proxy
    await callOnce(party, { ...step, proxy, opensUrls: false })
  }
}

type CallStep = Pick<
  Played<'call'>,
  'who' | 'tool' | 'era' | 'ending' | 'key' | 'proxy' | 'opensUrls'
>

async function callOnce(party: Party, step: CallStep): Promise<void> {
  const player = party.players[step.who]!
  const { tool, era, proxy, opensUrls } = step
  // Only the stateless versions ask for input within a call.
  const isAsking = step.ending.includes('question')
  const ending = era === 'sessions' && isAsking ? 'result' : step.ending
  const mark = step.key === null ? nextMark(party) : `${party.name}-${step.who}-key-${step.key}`
  const key = step.key === null ? undefined : `key ${step.key}`
  const call = {
    player,
    tool,
    given: { mark: `${mark}-${ending}`, ending },
    era,
    proxy,
    opensUrls,
    key,
  }
  await callAndCheck(party, call, ({ kind, ...ended }) => {
    if (kind !== 'question' || !('state' in ended)) return
    const untilMs = party.market.world.nowMs + questionMs
    party.questions.push({
      player,
      tool,
      given: call.given,
      untilMs,
      ...ended,
    })
  })
}

/** Lifetime of a question. It is shorter than a round. */
const questionMs = 3_600_000

/** Answers a question, as its customer or another one, with the original content or a changed one. */
export async function playAnswer(party: Party, step: Played<'answer'>): Promise<void> {
  const question = party.questions.at(-1 - step.state)
  if (question === undefined) return
  const player = party.players[step.who]!
  const { proxy } = step
  const given = question.given as ToolCall['given']
  const { world } = party.market
  const isOpen = question.untilMs > world.nowMs
  const isOwn = step.how === 'as asked' && player === question.player && isOpen
  const call = {
    ...{ player, proxy, era: 'stateless' as const },
    tool: step.how === 'other tool' ? (question.tool === 'basic' ? 'pro' : 'basic') : question.tool,
    given: step.how === 'other arguments' ? { ...given, more: 1 } : given,
    state: step.how === 'changed state' ? `${question.state.slice(0, -4)}AAAA` : question.state,
  }
  if (!isOwn) return expectRefused(party, call)
  await callAndCheck(party, call, (ended) => {
    if (ended.kind !== 'question') return
    party.questions.push({ ...question, state: ended.state, untilMs: world.nowMs + questionMs })
  })
}

/** Checks that the call is neither executed nor recorded. */
async function expectRefused(party: Party, call: ToolCall): Promise<void> {
  const { world } = party.market
  const before = world.origin.executionsOf(call.given.mark)
  const { ended } = await callTool(party, call)
  expect(party.isDeleted ? 'gone' : 'refused', JSON.stringify(ended)).toBe(ended.kind)
  expect(world.origin.executionsOf(call.given.mark), 'a refused call ran').toBe(before)
}

/** After a time without ingest, a proxy delivers its records, which end holds, some seconds later. */
const heldTriesMax = 250

async function callAndCheck(
  party: Party,
  call: ToolCall,
  onEnded: (ended: CallOutcome) => void = () => undefined,
): Promise<void> {
  const { world } = party.market
  const { player, tool, given } = call
  for (let tries = 0; ; tries++) {
    const expected = expectedOutcome(party, player, tool)
    const before = world.origin.executionsOf(given.mark)
    const { ended, life } = await callTool(party, call)
    const executions = world.origin.executionsOf(given.mark) - before
    if (isFreeAtAnotherProxy(player, call, life)) player.leftCalls += 1
    addFact(player, call, ended, life, expected)
    // The unit of a call whose client disconnected is released a moment later.
    const isPaywall = ended.kind === 'paywall' || ended.kind === 'paywall question'
    const isHeldYet = expected === 'admitted' && isPaywall && mayBeHeld(player, [call.proxy])
    if (isHeldYet && tries < heldTriesMax) {
      await sleep(40)
      continue
    }
    const facts = JSON.stringify({
      tool,
      given,
      left: remainingUnits(player),
      limits: player.limits,
      ended,
    })
    expect(describeOutcome(ended, executions), facts).toBe(
      expected === 'either' ? describeOutcome(ended, executions) : expected,
    )
    const mayCount = ended.kind === 'served' && call.key === undefined
    if (expected !== 'open' && !mayCount && !isPaywall) player.releasedBy = call.proxy
    return onEnded(ended)
  }

  function describeOutcome(ended: CallOutcome, executions: number): string {
    if (ended.kind === 'gone') return executions === 0 ? 'gone' : 'gone, and ran'
    if (ended.kind === 'paywall' || ended.kind === 'paywall question')
      return executions === 0 ? 'paywalled' : 'paywalled, and ran'
    if (executions !== 1) return `${ended.kind}, and ran ${executions} times`
    return expectedOutcome(party, player, tool) === 'open' ? 'open' : 'admitted'
  }
}

/**
 * Returns whether the call is a free repeat of one that another proxy served. Only ingest knows that it is free, and its unit is
 * held until then.
 */
function isFreeAtAnotherProxy({ facts }: Player, call: ToolCall, life: string): boolean {
  const key = keyOf(call)
  return key !== undefined && facts.some((fact) => fact.key === key && fact.life !== life)
}

/**
 * Returns what identifies a call with a client key: the key, and everything that the MCP server can read. In the stateless versions
 * it reads the version and the capabilities of the client with each call, in sessions it does not.
 */
function keyOf({ key, tool, given, era, opensUrls }: ToolCall): string | undefined {
  if (key === undefined) return undefined
  const read = era === 'stateless' ? [era, opensUrls === true] : [era]
  return JSON.stringify([key, tool, given, ...read])
}

/** Adds the record that a call with this end must have. */
function addFact(
  player: Player,
  call: ToolCall,
  ended: CallOutcome,
  life: string,
  expected: Expected,
): void {
  const outcome = outcomeOf(ended)
  if (outcome === undefined || expected === 'open') return
  player.facts.push({ tool: call.tool, outcome, key: keyOf(call), life })
}

function outcomeOf({ kind }: CallOutcome): CallFact['outcome'] | undefined {
  switch (kind) {
    case 'served':
      return 'success'
    case 'tool error':
    case 'error':
      return 'fail'
    case 'paywall':
      return 'paywall'
    case 'question':
    case 'paywall question':
    case 'gone':
    case 'refused':
      return undefined
  }
}

/** Checks that as many concurrent calls are served as units are left, and that the others get the paywall. */
export async function playCallsAtOnce(party: Party, step: Played<'calls at once'>): Promise<void> {
  const player = party.players[step.who]!
  const expected = expectedOutcome(party, player, step.tool)
  const left = remainingUnits(player)
  const { world } = party.market
  const { cutOffs } = world
  const wasHeld = mayBeHeld(player, [0, 1])
  const calls = Array.from({ length: step.count }, (_, place): ToolCall => ({
    ...{ player, tool: step.tool, given: { mark: nextMark(party), ending: 'result' } },
    ...{ era: 'stateless', proxy: (step.proxy + place) % proxyCount },
  }))
  const ends = await Promise.all(calls.map((call) => callTool(party, call)))
  for (const [place, { ended, life }] of ends.entries()) {
    const call = calls[place]!
    addFact(player, call, ended, life, expected)
    const ran = world.origin.executionsOf(call.given.mark)
    expect(ran, `${ended.kind} at once`).toBe(ended.kind === 'served' ? 1 : 0)
  }
  const served = ends.filter(({ ended }) => ended.kind === 'served').length
  // A proxy releases the hold of a call that was cut off, and meanwhile the other proxy finds the unit held.
  const isHeld = wasHeld || world.cutOffs !== cutOffs
  expectServed({ player, isHeld, expected, left, served, wanted: step.count })
}

type AtOnce = {
  readonly player: Player
  readonly isHeld: boolean
  readonly expected: Expected
  readonly left: ReturnType<typeof remainingUnits>
  readonly served: number
  readonly wanted: number
}

function expectServed({ player, isHeld, expected, left, served, wanted }: AtOnce): void {
  const facts = JSON.stringify({ expected, left, limits: player.limits, wanted })
  const isLimited = expected === 'admitted' || expected === 'either'
  const most = expected === 'open' ? wanted : isLimited ? Math.min(wanted, left.most) : 0
  expect(served, facts).toBeLessThanOrEqual(most)
  if (isHeld || !isLimited) {
    if (expected === 'open') expect(served, facts).toBe(wanted)
    return
  }
  expect(served, facts).toBeGreaterThanOrEqual(Math.min(wanted, Math.max(0, left.least)))
}

/** Plays a batch of 2025-03-26, in which some calls may be refused. */
export async function playBatch(party: Party, step: Played<'batch'>): Promise<void> {
  const player = party.players[step.who]!
  const { world } = party.market
  const { url } = party
  const marks = step.tools.map(() => nextMark(party))
  const body = step.tools.map((name, id) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: { mark: marks[id], ending: 'result' } },
  }))
  const wasHeld = mayBeHeld(player, [step.proxy])
  const { cutOffs } = world
  const expected = step.tools.map((tool) => expectedOutcome(party, player, tool))
  const left = remainingUnits(player)
  const life = world.lifeOf(step.proxy)
  const port = world.portOf(step.proxy)
  const headers = { 'mcp-protocol-version': '2025-03-26' }
  const reply = await send({ port, url, token: player.token, body, headers })
  const ran = marks.map((mark) => world.origin.executionsOf(mark))
  if (reply.kind !== 'answered' || reply.status === 503) {
    expect(ran, 'a batch that was not answered').toEqual(marks.map(() => 0))
    player.leftCalls += 1
    return
  }
  if (reply.status === 404) {
    expect(new Set(expected)).toEqual(new Set(['gone']))
    return
  }
  const answers = (reply.body as unknown as JsonObject[]).map(outcomeOfMessage)
  let [served, unanswered] = [0, 0]
  for (const [place, ended] of answers.entries()) {
    const isRun = ended?.kind === 'served'
    expect(ran[place], `in a batch: ${ended?.kind}`).toBe(isRun ? 1 : 0)
    if (expected[place] === 'open') expect(ended?.kind).toBe('served')
    if (expected[place] === 'paywalled') expect(ended?.kind ?? 'paywall').toBe('paywall')
    if (ended === undefined) unanswered += 1
    else
      addFact(
        player,
        { player, tool: step.tools[place]! } as ToolCall,
        ended,
        life,
        expected[place]!,
      )
    if (isRun && expected[place] !== 'open') served += 1
  }
  const wanted = expected.filter((each) => each === 'admitted' || each === 'either').length
  const facts = JSON.stringify({ expected, left, limits: player.limits, answers })
  expect(served, facts).toBeLessThanOrEqual(Math.max(0, Math.min(wanted, left.most)))
  // The hold of a call without an answer is released a moment later.
  if (unanswered > 0) player.leftCalls += 1
  if (wasHeld || unanswered > 0 || world.cutOffs !== cutOffs) return
  expect(served, facts).toBeGreaterThanOrEqual(Math.min(wanted, Math.max(0, left.least)))
}

/** Slightly longer than the grace period of the proxy, in milliseconds. */
const hangUpMs = 350

/** The client disconnects or cancels while the tool works. It gets no answer and pays nothing. */
export async function playHangUp(party: Party, step: Played<'hang up'>): Promise<void> {
  const { tool, era, proxy } = step
  const player = party.players[step.who]!
  const { world } = party.market
  const expected = expectedOutcome(party, player, tool)
  const mark = nextMark(party)
  const controller = new AbortController()
  const given = { mark, ending: 'silence' }
  const call = { player, tool, given, era, proxy, signal: controller.signal }
  const life = world.lifeOf(proxy)
  const running = sendCall(party, call)
  const first = await Promise.race([world.origin.whenExecuted(mark), running])
  if (first !== undefined) {
    // The call was refused, and may have been recorded as refused.
    const ended = outcomeOfReply(first)
    if (ended === undefined) player.leftCalls += 1
    else addFact(player, call, ended, life, expected)
    expect(world.origin.executionsOf(mark)).toBe(0)
    return
  }
  expect(['open', 'admitted', 'either'], `${expected} and ran`).toContain(expected)
  if (era === 'stateless') controller.abort()
  else await cancel(party, player, proxy)
  await running
  if (expected !== 'open') {
    // The proxy waits for an answer that may be on its way before it records the call.
    if (era === 'stateless') await sleep(hangUpMs)
    addFact(player, call, { kind: 'error' }, life, expected)
    player.leftCalls += 1
  }
  if (era === 'sessions') {
    await expectIdRefused(party, call, life, expected)
    player.requestId += 1
  }
}

/** Checks that a call with the id of a cancelled call is not executed. The MCP server may still send the result of the cancelled one. */
async function expectIdRefused(
  party: Party,
  call: ToolCall,
  life: string,
  expected: Expected,
): Promise<void> {
  const { origin } = party.market.world
  const { signal: _, ...unaborted } = call
  const again = { ...unaborted, given: { mark: nextMark(party), ending: 'result' } }
  const ended = outcomeOfReply(await sendCall(party, again))
  expect(origin.executionsOf(again.given.mark), JSON.stringify(ended)).toBe(0)
  if (ended === undefined) {
    call.player.leftCalls += 1
    return
  }
  // The unit of the cancelled call may still be held, and then the call gets the paywall.
  expect(expected === 'open' ? ['error'] : ['error', 'paywall']).toContain(ended.kind)
  addFact(call.player, again, ended, life, expected)
}

async function cancel(party: Party, player: Player, proxy: number): Promise<void> {
  const { url, market } = party
  const headers = player.sessions.get('opens none')!
  const params = { requestId: player.requestId }
  const body = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
  const port = market.world.portOf(proxy)
  await send({ port, url, token: player.token, headers, body })
}

export function nextMark(party: Party): string {
  party.count += 1
  return `${party.name}-${party.count}`
}
