import { taxIdsToCheck } from '@tollgate/domain/calendar/due-items'
import { lookUpTaxId } from '@tollgate/domain/tax/look-up-tax-id'
import { removeUnusedTaxIdCheck } from '@tollgate/domain/tax/tax-id-checks-repository'
import type { TaxRegister } from '@tollgate/platform/tax-register/tax-register'
import type { ItemJob } from './job.ts'

/**
 * Creates the job that looks up tax ids that were not looked up when they were entered, and repeats old look-ups. If no customer has
 * a tax id any more, the job deletes the register's answer, which may contain the name and address of a person.
 */
export function createTaxIdChecks(register: TaxRegister): ItemJob {
  return {
    kind: 'items',
    name: 'tax-id-checks',
    due: taxIdsToCheck,
    perform: async (context, taxId) => {
      const isRemoved = await context.commit(({ sql, providerId, now }) =>
        removeUnusedTaxIdCheck(sql, providerId, taxId, now),
      )
      if (isRemoved) return 'done'
      const outcome = await lookUpTaxId(register, (body) => context.commit(body), taxId)
      // A register that does not answer is asked again at the time that is stored with the check.
      return outcome === 'nothing' ? 'nothing' : 'done'
    },
    explain: (_sql, { item }) => Promise.resolve(`look up tax id ${item}`),
  }
}
