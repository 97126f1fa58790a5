import { selectAbandonedCheckouts } from '@tollgate/domain/calendar/due-sessions'
import { expireCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import type { ItemJob } from './job.ts'

/** Tells of checkouts that nobody completed in their time. `hostedUrl` without a slash at its end. */
export function createAbandonedCheckouts(hostedUrl: string): ItemJob {
  return {
    kind: 'items',
    name: 'abandoned-checkouts',
    selectDue: selectAbandonedCheckouts,
    perform: (turn, sessionId) =>
      turn.commit(async (work) =>
        (await expireCheckoutSession(work, hostedUrl, sessionId)) ? 'done' : 'nothing',
      ),
    explain: () => Promise.resolve('say that it has expired'),
  }
}
