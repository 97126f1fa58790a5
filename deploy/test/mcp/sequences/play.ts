import { setTimeout as sleep } from 'node:timers/promises'
import { toolMeterName } from '@tollgate/schemas/http/mcp'
import { expect } from 'vitest'
import { openMarket, type Market } from './market.ts'
import { openParty, type Party } from './party.ts'
import {
  playAnswer,
  playBatch,
  playCall,
  playCallsAtOnce,
  playHangUp,
  playRepeat,
} from './play-call.ts'
import { playChange, playConfigure } from './play-change.ts'
import { expectExpired, playSmuggle, playStranger, playVirtual } from './play-refused.ts'
import {
  compareMeter,
  expectRecorded,
  readAllLimits,
  waitUntilCounted,
  successesOf,
} from './wait-until-counted.ts'
import type { Sequence, Step } from './step.ts'
import type { World } from './world.ts'

/** A sequence that broke a rule, with the error. */
export type Fault = { readonly steps: string; readonly error: string }

const dayMs = 86_400_000

/** Longer than a period, a token or a session lasts. */
const betweenRoundsMs = 32 * dayMs

/** Number of sequences that run concurrently. */
const togetherMax = 8

const cutOffMs = 60

/** Plays the sequences, each with its own product, and checks them. They share the provider and the services. */
export async function play(
  world: World,
  sequences: readonly Sequence[],
): Promise<readonly Fault[]> {
  const from = new Date(world.nowMs - dayMs).toISOString()
  const market = await openMarket(world)
  const faults = new Map<number, Fault>()
  const parties: (Party | undefined)[] = []
  const forEach = async (body: (place: number) => Promise<void>): Promise<void> => {
    const places = sequences.keys()
    const work = async (): Promise<void> => {
      for (const place of places) {
        if (faults.has(place)) continue
        await body(place).catch((error: unknown) => {
          const told = error instanceof Error ? error.stack! : String(error)
          faults.set(place, { steps: JSON.stringify(sequences[place]), error: told })
        })
      }
    }
    await Promise.all(Array.from({ length: togetherMax }, work))
  }
  await forEach(async (place) => {
    parties[place] = await openParty(market, `${from.slice(0, 10)}-${market.name}-${place}`)
  })
  const rounds = Math.max(...sequences.map(({ length }) => length))
  for (let round = 0; round < rounds; round++) {
    if (round > 0) {
      world.pass(betweenRoundsMs)
      await world.untilNoticed()
      await forEach((place) => beginRound(parties[place]!))
    }
    await forEach((place) => playRound(parties[place]!, sequences[place]![round] ?? []))
  }
  const to = new Date(world.nowMs + dayMs).toISOString()
  await forEach((place) => expectRecorded(parties[place]!, from, to))
  if (faults.size === 0) await expectMeters(market, parties as Party[], from, to)
  return [...faults.values()]
}

/** Begins a round. The tokens and sessions of the previous round have expired. */
async function beginRound(party: Party): Promise<void> {
  const { world } = party.market
  for (const player of party.players) {
    await expectExpired(party, player)
    player.token = await world.renewToken(player.token)
    player.areTokensIssued = false
  }
  const { waiter } = party
  waiter.player.token = await world.renewToken(waiter.player.token)
  waiter.calls = 0
  await readAllLimits(party)
}

async function playRound(party: Party, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await playStep(party, step)
  await waitUntilCounted(party)
}

async function playStep(party: Party, step: Step): Promise<void> {
  switch (step.do) {
    case 'call':
      return playCall(party, step)
    case 'repeat':
      return playRepeat(party, step)
    case 'answer':
      return playAnswer(party, step)
    case 'calls at once':
      return playCallsAtOnce(party, step)
    case 'batch':
      return playBatch(party, step)
    case 'hang up':
      return party.market.world.withoutRestarts(() => playHangUp(party, step))
    case 'smuggle':
      return playSmuggle(party, step)
    case 'stranger':
      return playStranger(party, step)
    case 'virtual tool':
      return playVirtual(party, step)
    case 'change':
    case 'configure':
      await waitUntilCounted(party)
      if (party.isDeleted) return
      await (step.do === 'change' ? playChange(party, step) : playConfigure(party, step))
      return readAllLimits(party)
    case 'restart proxy':
      return party.market.world.restartProxy(step.proxy)
    case 'cut ingest off':
      await party.market.world.cutIngestOff(cutOffMs)
      return void (await sleep(cutOffMs))
  }
}

/** Checks that the meters of tools count the calls of all customers, and that the other environment has none. */
async function expectMeters(
  { client, live }: Market,
  parties: readonly Party[],
  from: string,
  to: string,
): Promise<void> {
  const meters = await client.listMeters()
  for (const tool of ['open', 'basic', 'pro']) {
    const meter = meters.find(({ name }) => name === toolMeterName(tool))!
    const usage = await client.meterUsage(meter.reference, { from, to })
    const served = successesOf(parties, tool)
    expect(compareMeter(usage, served), `${tool} ${JSON.stringify(served)}`).toBe('as answered')
  }
  const meterRef = await live.client.requestsMeter()
  for (const outcome of ['success', 'fail', 'paywall']) {
    expect(await live.client.meterUsage(meterRef, { outcome, from, to })).toMatchObject({
      count: 0,
    })
  }
}
