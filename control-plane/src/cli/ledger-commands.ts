import { listSealedLedgers } from '@tollgate/domain/money-ledger/ledger-seals'
import {
  listUnbalancedCreditValues,
  listUnbalancedInvoices,
  listUnbalancedTransactions,
} from '@tollgate/domain/money-ledger/unbalanced'
import { findBrokenSeal } from '@tollgate/domain/money-ledger/verify-seals'
import { readWholeTables } from '@tollgate/domain/postgres/read-whole-tables'
import { listUnbalancedWallets } from '@tollgate/domain/money-ledger/ledger'
import type { Queryable } from '@tollgate/platform/database/database'
import { CliError } from '@tollgate/platform/cli/cli-error'
import { decimalFromMicros } from '@tollgate/schemas/quantity'
import { environments, type Environment } from '@tollgate/schemas/environment'
import type { CliParts } from './open-cli-parts.ts'

/** Maximum number of differences of one kind that the report shows. 20 are enough to see what is wrong. */
const shownMax = 20

/**
 * Verifies the ledger and fails if it finds a difference. Each transaction must add up to zero, each wallet must match its entries
 * and grants, the debt for credits must match the remaining credits, each invoice must match its entries, and the ledger must match
 * its seals.
 */
export async function verifyLedgerCommand({
  database,
  output,
}: Pick<CliParts, 'database' | 'output'>): Promise<void> {
  const differences: { environment: Environment; difference: string }[] = []
  for (const environment of environments) {
    const sql = database.in(environment)
    const found: string[] = []
    for (const check of [checkTransactions, checkWallets, checkCreditValues, checkInvoices]) {
      found.push(...(await readWholeTables(sql, check)))
    }
    // The check of each seal runs as a statement of its own.
    found.push(...(await checkSeals(sql)))
    differences.push(...found.map((difference) => ({ environment, difference })))
  }
  const isWhole = differences.length === 0
  output.show({
    json: { isWhole, differences },
    text: isWhole
      ? [
          'Every transaction, wallet and invoice agrees with the ledger, and the ledger with its seals.',
        ]
      : differences.map(({ environment, difference }) => `${environment} ${difference}`),
  })
  if (!isWhole) {
    throw new CliError(
      'The ledger does not agree with itself. Keep the database as it is and see docs/operations.md.',
    )
  }
}

async function checkTransactions(sql: Queryable): Promise<string[]> {
  const found = await listUnbalancedTransactions(sql, shownMax)
  return found.map(
    ({ providerId, reference, unit, sum }) =>
      `${providerId} ${reference}: its entries in ${unit} add up to ${sum}`,
  )
}

async function checkWallets(sql: Queryable): Promise<string[]> {
  const found = await listUnbalancedWallets(sql, shownMax)
  return found.map((wallet) => {
    const { providerId, customerRef, balanceMicros, entriesMicros, grantsMicros } = wallet
    const [balance, entries, grants] = [balanceMicros, entriesMicros, grantsMicros].map(
      decimalFromMicros,
    )
    return `${providerId} ${customerRef}: balance ${balance}, entries ${entries}, left of grants ${grants}`
  })
}

async function checkCreditValues(sql: Queryable): Promise<string[]> {
  const found = await listUnbalancedCreditValues(sql, shownMax)
  return found.map(
    ({ providerId, customerRef, currency, grantsMinor, prepaidMinor }) =>
      `${providerId} ${customerRef}: paid for what is left of grants ${grantsMinor} ${currency}, owed for credits ${prepaidMinor}`,
  )
}

async function checkInvoices(sql: Queryable): Promise<string[]> {
  const found = await listUnbalancedInvoices(sql, shownMax)
  return found.map((invoice) => {
    const { providerId, invoiceRef, currency, dueMinor, writtenOffMinor } = invoice
    const { receivableMinor, entriesWrittenOffMinor } = invoice
    return `${providerId} ${invoiceRef}: due ${dueMinor} ${currency}, receivable ${receivableMinor}, written off ${writtenOffMinor}, by entries ${entriesWrittenOffMinor}`
  })
}

async function checkSeals(sql: Queryable): Promise<string[]> {
  const broken: string[] = []
  for (const providerId of await listSealedLedgers(sql)) {
    const seal = await findBrokenSeal(sql, providerId)
    if (seal === undefined) continue
    const { number, afterId, upToId } = seal
    broken.push(
      `${providerId}: seal ${number} is broken, of what was posted after ${afterId} up to ${upToId}`,
    )
  }
  return broken
}
