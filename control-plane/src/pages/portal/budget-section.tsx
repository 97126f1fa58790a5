import type { ReactElement } from 'react'
import { budgetStop } from '@tollgate/domain/budgets/budget'
import { isCreditBased } from '@tollgate/domain/plans/plan'
import { chargesUsageLater } from '@tollgate/domain/pricing/billed-charges'
import { givesAccess } from '@tollgate/domain/purchases/access'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { amountText } from '../amount.ts'
import { PostForm } from '../post-form.tsx'
import type { Reader } from '../reader.ts'
import type { Portal } from './portal.ts'
import type { SpendControl } from './read-spend-control.ts'

type BudgetProps = {
  readonly portal: Portal
  readonly purchase: Purchase
  readonly control: SpendControl
  readonly now: Date
}

/** The form with which the customer sets a budget. Plans whose usage costs nothing have none. */
export function BudgetSection({
  portal,
  purchase,
  control,
  now,
}: BudgetProps): ReactElement | null {
  const { budget } = control
  if (!mayHaveBudget(purchase, now) && budget === undefined) return null
  const { frame } = portal
  const { t, formats } = frame
  const { currency } = purchase
  const isOfCurrency = budget?.currency === currency
  const amount = isOfCurrency ? amountText(BigInt(budget.amountMinor), currency, formats) : ''
  return (
    <section className="card" aria-label={t('portal:budget')}>
      <h2>{t('portal:budget')}</h2>
      <p className="quiet">{t('portal:budgetText')}</p>
      <BudgetState control={control} currency={currency} reader={frame} />
      <PostForm page={portal} path={`/purchases/${encodeURIComponent(purchase.reference)}/budget`}>
        <div className="fields">
          <div>
            <label htmlFor="amount">{t('portal:budgetAmount', { currency })}</label>
            <input
              id="amount"
              name="amount"
              defaultValue={amount}
              required
              inputMode="decimal"
              pattern="[0-9]+([.,][0-9]{1,2})?"
              title={t('shared:amountExample', { whole: 20, parts: formats.decimal(12.5) })}
              maxLength={12}
              autoComplete="off"
            />
          </div>
          <div>
            <label htmlFor="action">{t('portal:budgetAction')}</label>
            <select id="action" name="action" defaultValue={budget?.action ?? 'warn'}>
              <option value="warn">{t('portal:budgetWarn')}</option>
              <option value="stop">{t('portal:budgetStop')}</option>
            </select>
          </div>
        </div>
        <div className="actions">
          <button className="button main" type="submit" name="do" value="save">
            {t('portal:save')}
          </button>
          {budget !== undefined && (
            <button className="button" type="submit" name="do" value="remove" formNoValidate>
              {t('portal:budgetRemove')}
            </button>
          )}
        </div>
      </PostForm>
    </section>
  )
}

function mayHaveBudget(purchase: Purchase, now: Date): boolean {
  const { planSnapshot: plan } = purchase
  if (plan === null || !givesAccess(purchase, now)) return false
  return chargesUsageLater(plan) || isCreditBased(plan)
}

type StateProps = {
  readonly control: SpendControl
  readonly currency: string
  readonly reader: Reader
}

/** Shows what is spent, and whether that stops usage. */
function BudgetState({
  control: { budget, reading },
  currency,
  reader: { t, formats },
}: StateProps): ReactElement | null {
  if (budget === undefined || budget.currency !== currency || reading === undefined) return null
  const { spentMinor, periodEnd } = reading
  const [spent, amount] = [Number(spentMinor), budget.amountMinor]
  const isSpent = spent >= amount
  const isStopped = budgetStop(budget, reading) !== undefined
  const words = t('portal:budgetSpent', {
    spent: formats.money(spentMinor, currency),
    amount: formats.money(BigInt(amount), currency),
  })
  return (
    <div className="usage">
      <label htmlFor="budget-spent">{words}</label>
      <progress
        id="budget-spent"
        className={isSpent ? 'full' : ''}
        value={Math.min(spent, amount)}
        max={amount}
      />
      {isSpent && (
        <p className="bad-text">
          {isStopped
            ? t('portal:budgetStopped', { date: formats.date(periodEnd) })
            : t('portal:budgetOver')}
        </p>
      )}
    </div>
  )
}
