import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'
import type { Registry } from '@tollgate/platform/observability/metrics'
import type { HealthCheck } from '@tollgate/platform/service/health'
import { openRecords } from '../records/open-records.ts'
import { adaptTools } from './adapt-tools.ts'
import { Admissions } from './admission.ts'
import { createAskLimits } from './ask-limits.ts'
import { AllCustomerCalls } from './customer-calls.ts'
import type { Gate } from './gate.ts'
import type { GateLimits } from './gate-settings.ts'
import { KeyUses } from './key-uses.ts'
import { Links } from './links.ts'
import { createGateMetrics, type GateMetrics } from './metrics.ts'
import { createRelease, releaseUnanswered, type ReleaseUnanswered } from './release-hold.ts'
import type { Release } from './running-call.ts'
import { createSendRecords } from './send-records.ts'
import { ServiceCalls } from '../services/service-calls.ts'
import { callVirtualTool, isVirtualTool } from './virtual-tools.ts'

export type GateOptions = {
  /** Origins of the services, for example `http://127.0.0.1:8787`. */
  readonly ingestUrl: string
  readonly controlPlaneUrl: string
  /** Secret from which the keys for both services are derived. */
  readonly serviceSecret: string
  /** Data folder. The journal of calls is in its subfolder `mcp-proxy`. */
  readonly dataDir: string
  /** The values of `gateSettings`. */
  readonly limits: GateLimits
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Registry
}

export type OpenedGate = {
  readonly gate: Gate
  /** Fails while calls are refused because the journal has no room for their records. */
  readonly health: HealthCheck
  /**
   * Stops the gate. Call it after the last call has ended. Records that ingest does not accept in time are delivered after the next
   * start.
   */
  stop(): Promise<void>
}

const mebibyte = 1024 * 1024
const segmentBytesMax = 4 * mebibyte

export async function openGate(options: GateOptions): Promise<OpenedGate> {
  const { limits, logger, clock, serviceSecret: secret } = options
  const connectionsMax = limits.ingestConnectionsMax
  const ingest = new ServiceCalls({ origin: options.ingestUrl, secret, connectionsMax })
  const controlPlane = new ServiceCalls({ origin: options.controlPlaneUrl, secret, connectionsMax })
  const metrics = createGateMetrics(options.metrics)
  const calls = new AllCustomerCalls()
  const keyUses = new KeyUses(limits.clientKeyRepeats)
  const releasing = new Set<Promise<unknown>>()
  const releaseHold = createRelease(ingest, limits.limitsTimeoutMs)
  const track = <Result>(released: Promise<Result>): Promise<Result> => {
    releasing.add(released)
    return released.finally(() => releasing.delete(released))
  }
  const release: Release = (holder, id) => track(releaseHold(holder, id))
  const askLimits = createAskLimits(ingest, limits.limitsTimeoutMs)
  const releaseUnansweredHold: ReleaseUnanswered = (call) =>
    track(releaseUnanswered({ askLimits, release: releaseHold }, call, limits.limitsTimeoutMs))
  const records = await openRecords({
    dataDir: options.dataDir,
    limits: {
      bytesMax: limits.journalMebibytesMax * mebibyte,
      segmentBytesMax,
      syncMs: limits.journalSyncMs,
      stopGraceMs: limits.journalStopGraceMs,
    },
    send: createSendRecords(ingest),
    onAdopted: (record) => calls.addJournaled(record),
    onLost: () => calls.forgetJournaled(),
    onUsedElsewhere: (record) => {
      const next = keyUses.useNext(record)
      calls.confirm(record)
      calls.addJournaled(next)
      return next
    },
    onRecorded: (record) => calls.confirm(record),
    nowMs: () => clock.now(),
    logger,
    metrics: options.metrics,
  })
  const links = new Links(controlPlane, logger, {
    timeoutMs: limits.linksTimeoutMs,
    keptMs: limits.linksKeptSeconds * 1000,
  })
  const admissions = new Admissions({
    ...{ askLimits, release, releaseUnansweredHold, keyUses, links, records, calls, limits },
    ...{ clock, logger, metrics },
  })
  const virtualParts = { controlPlane, links, timeoutMs: limits.linksTimeoutMs }
  const gate: Gate = {
    admit: (call) => admissions.admit(call),
    adaptTools: (server, client, tools, isLastPage) =>
      adaptTools(
        ...([server, client, tools, isLastPage] as const),
        createCollisionReport(metrics, logger, server.productRef),
      ),
    isVirtual: isVirtualTool,
    callVirtual: (call) => callVirtualTool(virtualParts, call),
  }
  return {
    gate,
    health: records.health,
    stop: async () => {
      await records.stop()
      await Promise.all(releasing)
      await Promise.all([ingest.close(), controlPlane.close()])
    },
  }
}

function createCollisionReport(metrics: GateMetrics, logger: Logger, productRef: string) {
  return (toolName: string): void => {
    metrics.collisions.inc()
    logger.warn(
      { productRef, toolName },
      'a tool of an MCP server has the name of one of the proxy',
    )
  }
}
