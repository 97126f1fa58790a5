import { appendCorrectionsPath } from '@tollgate/schemas/http/usage-corrections'
import type { HotRoute } from '../http-front.ts'
import { appendCorrectionsRoute } from './append-corrections.ts'
import { eventsBatchPath, eventsBatchRoute } from './events-batch.ts'
import { eventsPath, eventsRoute } from './events.ts'
import { limitsPath, limitsRoute, type LimitsParts } from './limits.ts'
import { meterEventsBulkPath, meterEventsBulkRoute } from './meter-events-bulk.ts'
import { meterEventsPath, meterEventsRoute } from './meter-events.ts'
import { releasePath, releaseRoute } from './release.ts'
import type { RecordingParts } from './recording-parts.ts'
import { usagesBulkPath, usagesBulkRoute } from './usages-bulk.ts'
import { usagesPath, usagesRoute } from './usages.ts'

/** Returns the routes that this process answers, by path. */
export function hotRoutes(parts: RecordingParts & LimitsParts): ReadonlyMap<string, HotRoute> {
  return new Map([
    [usagesPath, usagesRoute(parts)],
    [usagesBulkPath, usagesBulkRoute(parts)],
    [meterEventsPath, meterEventsRoute(parts)],
    [meterEventsBulkPath, meterEventsBulkRoute(parts)],
    [eventsPath, eventsRoute(parts)],
    [eventsBatchPath, eventsBatchRoute(parts)],
    [limitsPath, limitsRoute(parts)],
    [releasePath, releaseRoute(parts)],
    [appendCorrectionsPath, appendCorrectionsRoute(parts)],
  ])
}
