type Send = (path: string, body: unknown, method?: string) => Promise<Record<string, string>>

const schedules = '/v1/ui/customers/:reference/credit-schedules'

/** Returns a request for each route that changes schedules of credits. */
export function creditScheduleCalls(
  refs: Record<string, string>,
  send: Send,
): Record<string, (path: string) => Promise<unknown>> {
  return {
    [`POST ${schedules}`]: async (path) => {
      const schedule = { credits: 100, every: { unit: 'month', count: 1 } }
      refs['scheduleRef'] = (await send(path, schedule))['reference']!
    },
    [`PATCH ${schedules}/:scheduleRef`]: (path) => send(path, { credits: 200 }, 'PATCH'),
    [`POST ${schedules}/:scheduleRef/pause`]: (path) => send(path, {}),
    [`POST ${schedules}/:scheduleRef/resume`]: (path) => send(path, {}),
    [`POST ${schedules}/:scheduleRef/end`]: (path) => send(path, {}),
  }
}
