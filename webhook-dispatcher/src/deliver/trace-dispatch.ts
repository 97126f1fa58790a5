import { endAfter } from '@tollgate/platform/observability/traced-call'
import type { Tracing } from '@tollgate/platform/observability/tracing'
import type { Environment } from '@tollgate/schemas/environment'
import type { DispatchParts } from './dispatcher.ts'

/**
 * Traces claims and attempts, each as a separate trace, because one claim yields many attempts that end independently. The
 * sampling ratio is the one of requests.
 */
export function traceDispatch(
  tracing: Tracing | undefined,
  space: Environment,
  parts: Pick<DispatchParts, 'claim' | 'send'>,
): Pick<DispatchParts, 'claim' | 'send'> {
  if (tracing === undefined) return parts
  const shared = { 'tollgate.environment': space }
  return {
    claim(claim) {
      const attributes = { ...shared, 'tollgate.webhook.turn': claim.turn }
      const span = tracing.receive(`claim ${space}`, {}, attributes)
      return endAfter(span, () => span.run(() => parts.claim(claim)))
    },
    async send(delivery) {
      const span = tracing.receive(
        `attempt ${space}`,
        {},
        {
          ...shared,
          'tollgate.webhook.turn': delivery.turn,
          'tollgate.webhook.delivery': delivery.reference,
          'tollgate.webhook.endpoint': delivery.endpointRef,
          'tollgate.webhook.attempt': delivery.attempts + 1,
        },
      )
      return endAfter(span, async () => {
        const sent = await span.run(() => parts.send(delivery))
        if (sent.status !== undefined) span.set({ 'http.response.status_code': sent.status })
        return sent
      })
    },
  }
}
