import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type {
  AutoRecharge,
  AutoRechargeStatus,
  RechargeObstacle,
} from '@tollgate/domain/auto-recharge/repository'
import { majorText } from '@tollgate/domain/money/currencies'
import { PostForm } from '../post-form.tsx'
import type { CreditsView } from './credits-view.ts'
import type { Portal } from './portal.ts'

/** What the form holds, as text. */
export type AutoRechargeFields = {
  readonly threshold: string
  readonly topup: string
  readonly currency: string
  readonly monthlyMax: string
}

type AutoRechargeFormProps = {
  readonly portal: Portal
  readonly view: CreditsView
  readonly typed: AutoRechargeFields | undefined
}

const statusWords: Readonly<Record<AutoRechargeStatus, readonly [string, string]>> = {
  active: ['On', 'good'],
  disabled: ['Off', 'quiet'],
  failed: ['Stopped: payments failed', 'bad'],
  pending_setup: ['Waiting for a card', 'warning'],
}

const obstacleWords: Readonly<Record<RechargeObstacle, string>> = {
  monthly_cap_too_low:
    'Nothing is bought: with its tax, one top-up comes to more than the most of a month. Allow more, or buy for less.',
  exchange_rate_missing:
    'Nothing is bought: credits are not sold in its currency at the moment. Choose another one.',
}

export function AutoRechargeForm({ portal, view, typed }: AutoRechargeFormProps): ReactElement {
  const { recharge } = view
  const obstacle = recharge?.status === 'active' ? recharge.obstacle : null
  const [label, tone] =
    obstacle === null
      ? statusWords[recharge?.status ?? 'disabled']
      : (['Paused', 'warning'] as const)
  const fields = typed ?? storedFields(view)
  const isWaiting = recharge?.status === 'pending_setup' || recharge?.status === 'failed'
  const isOn = recharge !== undefined && recharge.status !== 'disabled'
  return (
    <section className="card">
      <div className="row spread">
        <h2>Automatic top-up</h2>
        <span className={`badge ${tone}`}>{label}</span>
      </div>
      <p className="quiet">
        Buys credits with your saved card whenever the balance falls below an amount, so that
        nothing stops.
      </p>
      {obstacle !== null && <p>{obstacleWords[obstacle]}</p>}
      <PostForm page={portal} path="/credits/auto-recharge">
        <Fields fields={fields} view={view} />
        <div className="actions">
          <button className="button main" type="submit" name="enabled" value="yes">
            {isOn ? 'Save' : 'Turn on'}
          </button>
          {isOn && (
            <button className="button" type="submit" name="enabled" value="no" formNoValidate>
              Turn off
            </button>
          )}
        </div>
      </PostForm>
      {isWaiting && view.isCardTaken && <CardWanted portal={portal} />}
      <Spent portal={portal} recharge={recharge} />
    </section>
  )
}

/** Nothing is bought before there is a card for it. */
function CardWanted({ portal }: { readonly portal: Portal }): ReactElement {
  return (
    <PostForm page={portal} path="/payment/card">
      <input type="hidden" name="attempt" value={randomUUID()} />
      <p>Nothing is bought before you save a card for it.</p>
      <div className="actions">
        <button className="button main" type="submit">
          Save a card
        </button>
      </div>
    </PostForm>
  )
}

type FieldsProps = { readonly fields: AutoRechargeFields; readonly view: CreditsView }

function Fields({ fields, view }: FieldsProps): ReactElement {
  return (
    <div className="fields">
      <div>
        <label htmlFor="threshold">{`When the balance falls below (${view.displayRate.currency})`}</label>
        <AmountInput name="threshold" value={fields.threshold} isRequired />
      </div>
      <div>
        <label htmlFor="topup">Buy credits for</label>
        <AmountInput name="topup" value={fields.topup} isRequired />
      </div>
      <div>
        <label htmlFor="currency">Currency</label>
        <select id="currency" name="currency" defaultValue={fields.currency}>
          {view.currencies.map((code) => (
            <option key={code} value={code}>
              {code}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label htmlFor="monthlyMax">
          At most in a month, with tax <span className="quiet">(optional)</span>
        </label>
        <AmountInput name="monthlyMax" value={fields.monthlyMax} />
      </div>
    </div>
  )
}

type AmountInputProps = {
  readonly name: string
  readonly value: string
  readonly isRequired?: boolean
}

function AmountInput({ name, value, isRequired = false }: AmountInputProps): ReactElement {
  return (
    <input
      id={name}
      name={name}
      defaultValue={value}
      required={isRequired}
      inputMode="decimal"
      pattern="[0-9]+([.,][0-9]{1,2})?"
      title="An amount such as 20 or 12.50"
      maxLength={12}
      autoComplete="off"
    />
  )
}

function Spent(props: { readonly portal: Portal; readonly recharge: AutoRecharge | undefined }) {
  const { recharge, portal } = props
  const { money, date } = portal.frame.formats
  if (recharge === undefined || recharge.lastChargeAt === null) return null
  const spent = money(recharge.monthlySpendMinor, recharge.topupCurrency)
  return (
    <p className="quiet">{`Last used on ${date(recharge.lastChargeAt)}; ${spent} in that month.`}</p>
  )
}

function storedFields({ recharge, displayRate, currencies }: CreditsView): AutoRechargeFields {
  if (recharge === undefined || recharge.topupMinor === 0n) {
    const currency = currencies[0] ?? displayRate.currency
    return { threshold: '', topup: '', currency, monthlyMax: '' }
  }
  const { topupCurrency, monthlySpendMaxMinor, thresholdMinor, thresholdCurrency } = recharge
  // The balance may be shown in another currency by now: then it is asked for anew.
  const isSame = thresholdCurrency === displayRate.currency
  return {
    threshold: isSame ? majorText(thresholdMinor, thresholdCurrency) : '',
    topup: majorText(recharge.topupMinor, topupCurrency),
    currency: topupCurrency,
    monthlyMax: monthlySpendMaxMinor === null ? '' : majorText(monthlySpendMaxMinor, topupCurrency),
  }
}
