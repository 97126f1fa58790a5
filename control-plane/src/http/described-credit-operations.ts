import { operation, type DescribedOperation } from './described-operation.ts'

const schedules = '/v1/ui/customers/{reference}/credit-schedules'
const schedule = `${schedules}/{scheduleRef}`

/** Operations of credits that a customer gets repeatedly. */
export const describedCreditOperations: Readonly<Record<string, DescribedOperation>> = {
  [`post ${schedules}`]: operation('createCreditSchedule', 'Grant credits on a schedule', 404, 409),
  [`get ${schedules}`]: operation('listCreditSchedules', 'List schedules of credits', 404),
  [`get ${schedule}/grants`]: operation(
    'listScheduledGrants',
    'List the grants of a schedule',
    404,
  ),
  [`patch ${schedule}`]: operation('changeCreditSchedule', 'Change a schedule', 404, 409),
  [`post ${schedule}/pause`]: operation('pauseCreditSchedule', 'Pause a schedule', 404, 409),
  [`post ${schedule}/resume`]: operation('resumeCreditSchedule', 'Resume a schedule', 404, 409),
  [`post ${schedule}/end`]: operation('endCreditSchedule', 'End a schedule', 404),
}
