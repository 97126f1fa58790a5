import { listUnbalancedWallets } from '@tollgate/domain/wallet/ledger'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { environments } from '@tollgate/schemas/environment'
import { CliError } from './cli-error.ts'
import type { CliParts } from './open-cli-parts.ts'

/** That many show what is wrong. */
const shownMax = 20

/** Adds up all entries and grants of every wallet, and compares with the balance that is kept. */
export async function verifyLedgerCommand({ database, print }: CliParts): Promise<void> {
  let differing = 0
  for (const environment of environments) {
    for (const wallet of await listUnbalancedWallets(database.in(environment), shownMax)) {
      const { providerId, customerRef, balanceMicros, entriesMicros, grantsMicros } = wallet
      const [balance, entries, grants] = [balanceMicros, entriesMicros, grantsMicros].map(
        decimalFromMicros,
      )
      print(
        `${environment} ${providerId} ${customerRef}: balance ${balance}, entries ${entries}, left of grants ${grants}`,
      )
      differing += 1
    }
  }
  if (differing > 0) throw new CliError('the ledger does not agree with itself')
  print('every wallet agrees with its entries and its grants')
}
