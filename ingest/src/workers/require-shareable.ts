import { SettingsError } from '@tollgate/platform/config/settings'
import type { IngestConfig } from '../config.ts'

/**
 * Throws a SettingsError if this installation cannot have several workers. The embedded log has one writer, which alone decides the
 * order of records. Systems other than Linux do not distribute connections among the processes that listen on a port.
 */
export function requireShareable(
  { workers, eventLog, hotState }: Pick<IngestConfig, 'workers' | 'eventLog' | 'hotState'>,
  platform: NodeJS.Platform = process.platform,
): void {
  if (workers === 1) return
  const setting = `TOLLGATE_INGEST_WORKERS=${workers}`
  if (eventLog !== 'kafka' || hotState !== 'redis') {
    throw new SettingsError(
      `${setting}: several workers cannot share the embedded log, which has one writer. Set it to 1, or run on the engines with TOLLGATE_EVENT_LOG=kafka and TOLLGATE_HOT_STATE=redis`,
    )
  }
  if (platform !== 'linux') {
    throw new SettingsError(
      `${setting}: several workers cannot share a port on ${platform}, only on Linux. Set it to 1, or run several instances behind a load balancer`,
    )
  }
}
