import { EntitlementDocuments } from '@tollgate/domain/entitlements/entitlement-documents'
import { createTailParts } from '@tollgate/domain/entitlements/tail-parts'
import { readFolderSecret } from '@tollgate/platform/service/folder-secret'
import { findServiceSecret } from '@tollgate/platform/service/service-secret'
import type { Registry } from '@tollgate/platform/observability/metrics'
import { usageTopic } from '@tollgate/schemas/topics'
import type { IngestConfig } from './config.ts'
import { InFlightLimit } from './domain/in-flight-limit.ts'
import type { FetchKey, FetchMeters, KeyDirectory } from './domain/key-holder.ts'
import type { CallControlPlane } from './domain/call-control-plane.ts'
import { PauseAfterFailure } from './domain/pause-after-failure.ts'
import type { PlaceEvent } from './domain/placed-event.ts'
import type { Recharges } from './domain/recharges.ts'
import type { Wallets } from './domain/wallets.ts'
import { createEventPlacer } from './event-log/event-placer.ts'
import { loadRecentKeys } from './event-log/load-recent-keys.ts'
import { LogRecorder } from './event-log/log-recorder.ts'
import { createReferenceSource } from './event-log/random-references.ts'
import { RecentKeys } from './event-log/recent-keys.ts'
import { LimitChecker } from './hot-state/limit-checker.ts'
import { Reserver } from './hot-state/reserver.ts'
import { DebitDecider } from './hot-state/debit-decider.ts'
import { HotWallets } from './hot-state/hot-wallets.ts'
import { CustomerTimes } from './hot-state/customer-times.ts'
import { KeyCache } from './hot-state/key-cache.ts'
import { MetersCache } from './hot-state/meters-cache.ts'
import { ProjectionFollower } from './hot-state/projection-follower.ts'
import { ControlPlaneRecharges } from './http/control-plane-recharges.ts'
import { ControlPlaneWallets } from './http/control-plane-wallets.ts'
import { registerGauges, type IngestCounts } from './metrics.ts'
import type { Parts } from './open-parts.ts'

/** The parts between the hot routes on one side, and the log and the hot state on the other. */
export type DataPlane = {
  readonly keys: KeyDirectory
  readonly meters: MetersCache
  readonly recorder: LogRecorder
  readonly debits: DebitDecider
  readonly wallets: Wallets
  readonly recharges: Recharges
  readonly place: PlaceEvent
  readonly paidPause: PauseAfterFailure
  readonly limits: LimitChecker
  readonly reserver: Reserver
  readonly reservationSecondsMax: number
  readonly fallbacks: InFlightLimit
  readonly nowMs: () => number
  readonly customerTimes: CustomerTimes
  readonly randomReference: (nowMs: number) => string
  readonly follower: ProjectionFollower
}

export async function openDataPlane(
  config: IngestConfig,
  parts: Parts,
  metrics: Registry,
  counts: IngestCounts,
  controlPlane: ControlPlaneCalls,
): Promise<DataPlane> {
  const { clock, logger, eventLog: log, schemaId, hotState } = parts
  const nowMs = (): number => clock.now()
  const appends = new InFlightLimit({
    countMax: config.appendsInFlightMax,
    bytesMax: config.appendBytesInFlightMax,
  })
  const customerTimes = new CustomerTimes(hotState, log.partitionCount(usageTopic('sandbox')))
  const documents = new EntitlementDocuments(config.cachedEntitlementsMax)
  const tailParts = createTailParts({ log, hotState }, config)
  const checking = {
    log,
    hotState,
    ...tailParts,
    documents,
    nowMs,
    customerTimes,
    inFlight: new InFlightLimit({ countMax: config.limitChecksMax, bytesMax: 0 }),
    ...{ waitMs: config.limitsWaitMs, tailRecordsMax: config.tailRecordsMax },
  }
  const recentKeys = new RecentKeys(config.recentKeysMax)
  await loadRecentKeys({ ...parts, log, recentKeys, counts }, config.recentKeysMax)
  registerGauges(metrics, {
    appendsInFlight: () => appends.count,
    appendBytesInFlight: () => appends.bytes,
    recentKeys: () => recentKeys.size,
    tailBytes: () => tailParts.tails.bytes,
  })
  return {
    ...openCaches(config, parts, counts, controlPlane, await findServiceSecret(config)),
    recorder: new LogRecorder({ log, schemaId, hotState, recentKeys, inFlight: appends, counts }),
    debits: new DebitDecider({
      hotState,
      documents,
      counts,
      nowMs,
      payersMax: config.cachedEntitlementsMax,
    }),
    wallets: await openWallets(config, parts, controlPlane),
    recharges: createRecharges(config, counts, controlPlane),
    place: createEventPlacer(log),
    paidPause: new PauseAfterFailure(),
    limits: new LimitChecker({ ...checking, counts }),
    reserver: new Reserver({
      ...checking,
      reservationsMax: config.reservationsMax,
      creditsHeldMax: config.creditsHeldMax,
    }),
    reservationSecondsMax: config.reservationSecondsMax,
    fallbacks: new InFlightLimit({ countMax: config.limitFallbacksMax, bytesMax: 0 }),
    nowMs,
    customerTimes,
    randomReference: createReferenceSource(),
    follower: new ProjectionFollower({
      log,
      hotState,
      onApplied: (environment, partition, offset) =>
        recentKeys.forgetApplied(environment, partition, offset),
      onFailure: (error) => logger.warn({ err: error }, 'cannot read the position of the counters'),
      intervalMs: config.followIntervalMs,
    }),
  }
}

/** Requests that ingest sends to the control plane. */
export type ControlPlaneCalls = {
  readonly fetchKey: FetchKey
  readonly fetchMeters: FetchMeters
  readonly callControlPlane: CallControlPlane
}

function createRecharges(
  config: IngestConfig,
  counts: IngestCounts,
  { callControlPlane }: ControlPlaneCalls,
): Recharges {
  return new ControlPlaneRecharges(callControlPlane, counts.rechargeRefusals, {
    callsMax: config.rechargeCallsMax,
    waitMs: config.rechargeWaitMs,
    pauseMs: config.rechargePauseSeconds * 1_000,
  })
}

async function openWallets(
  config: IngestConfig,
  { eventLog: log, hotState }: Parts,
  { callControlPlane }: ControlPlaneCalls,
): Promise<Wallets> {
  if (!hotState.canReserve()) {
    return new ControlPlaneWallets(callControlPlane, await readFolderSecret(config.dataDir))
  }
  return new HotWallets(
    { log, hotState },
    {
      waitMs: config.limitsWaitMs,
      heldMs: config.creditsHeldSeconds * 1_000,
      heldMax: config.creditsHeldMax,
    },
  )
}

function openCaches(
  config: IngestConfig,
  { hotState, clock }: Parts,
  counts: IngestCounts,
  { fetchKey, fetchMeters }: ControlPlaneCalls,
  serviceSecret: string | undefined,
): Pick<DataPlane, 'keys' | 'meters'> {
  const ages = { freshMs: config.cacheFreshMs, staleMs: config.cacheStaleMs }
  return {
    keys: new KeyCache(hotState, fetchKey, clock, {
      ...ages,
      keysMax: config.cachedKeysMax,
      refusedMax: config.cachedRefusedKeysMax,
      serviceSecret,
    }),
    meters: new MetersCache(hotState, fetchMeters, counts, {
      ...ages,
      providersMax: config.cachedProvidersMax,
    }),
  }
}
