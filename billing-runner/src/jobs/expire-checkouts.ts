import { abandonedCheckouts } from '@tollgate/domain/calendar/due-items'
import { expireCheckoutSession } from '@tollgate/domain/sessions/checkout-sessions'
import type { ItemJob } from './job.ts'

/** Creates the job that expires checkouts that were not completed in time. `hostedUrl` has no trailing slash. */
export function createAbandonedCheckouts(hostedUrl: string): ItemJob {
  return {
    kind: 'items',
    name: 'abandoned-checkouts',
    due: abandonedCheckouts,
    perform: (context, sessionId) =>
      context.commit(async (work) =>
        (await expireCheckoutSession(work, hostedUrl, sessionId)) ? 'done' : 'nothing',
      ),
    explain: () => Promise.resolve('expire it'),
  }
}
