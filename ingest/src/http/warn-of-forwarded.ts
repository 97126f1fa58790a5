import type { Clock } from '@tollgate/platform/clock/clock'
import type { Logger } from '@tollgate/platform/observability/logger'

/** One warning in this time: an attacker must not fill the log. */
const warnEveryMs = 300_000

/** Warns that a peer which is no trusted proxy sends X-Forwarded-For: a proxy that was not named, or a client that lies. */
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
