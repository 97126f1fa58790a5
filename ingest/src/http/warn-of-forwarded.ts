import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'

/** Minimum milliseconds between two warnings, so that an attacker cannot fill the log. */
const warnEveryMs = 300_000

/**
 * Returns a function that warns if an untrusted peer sends X-Forwarded-For: a proxy that is missing in the settings, or a client
 * that sends false headers.
 */
export function createForwardedWarning(
  logger: Logger,
  clock: Clock,
  count: () => void,
): (peer: string) => void {
  let warnedAtMs = Number.NEGATIVE_INFINITY
  return (peer) => {
    count()
    if (clock.now() - warnedAtMs < warnEveryMs) return
    warnedAtMs = clock.now()
    logger.warn(
      { peer },
      'X-Forwarded-For came from a peer that is not in TOLLGATE_TRUSTED_PROXIES and was ignored. If this peer is your ' +
        'proxy, add it: until then all its clients count as one address, so one of them can use up the sign-ins of all',
    )
  }
}
