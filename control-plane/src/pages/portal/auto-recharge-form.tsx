import { randomUUID } from 'node:crypto'
import type { ReactElement } from 'react'
import type {
  AutoRecharge,
  AutoRechargeStatus,
  RechargeObstacle,
} from '@tollgate/domain/auto-recharge/repository'
import type { Card } from '@tollgate/domain/cards/repository'
import { expiryText } from '../../invoices/document-formats.ts'
import { amountText } from '../amount.ts'
import { cardName } from '../card-name.ts'
import { minimumTopUpMinor, suggestedTopUpsMinor } from '../checkout/top-up-amounts.ts'
import { PostForm } from '../post-form.tsx'
import type { PlainKey } from '../texts/texts.ts'
import type { CreditsView } from './credits-view.ts'
import type { Portal } from './portal.ts'

/** The fields of the form, as text. */
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

const statusTexts: Readonly<Record<AutoRechargeStatus, readonly [PlainKey, string]>> = {
  active: ['portal:autoTopUpOn', 'good'],
  disabled: ['portal:autoTopUpOff', 'quiet'],
  failed: ['portal:autoTopUpFailed', 'bad'],
  pending_setup: ['portal:autoTopUpPending', 'warning'],
}

const obstacleTexts: Readonly<Record<RechargeObstacle, PlainKey>> = {
  monthly_cap_too_low: 'portal:obstacleCap',
  exchange_rate_missing: 'portal:obstacleRate',
}

export function AutoRechargeForm({ portal, view, typed }: AutoRechargeFormProps): ReactElement {
  const { recharge, card } = view
  const { t } = portal.frame
  const obstacle = recharge?.status === 'active' ? recharge.obstacle : null
  const [label, tone] =
    obstacle === null
      ? statusTexts[recharge?.status ?? 'disabled']
      : (['portal:autoTopUpPaused', 'warning'] as const)
  const stored = storedFields(view, portal)
  // Do not show a currency that the form does not offer, because the submitted text may be no currency at all.
  const isOffered = typed !== undefined && view.currencies.includes(typed.currency)
  const currency = isOffered ? typed.currency : stored.currency
  const fields = { ...(typed ?? stored), currency }
  const isWaiting = recharge?.status === 'pending_setup' || recharge?.status === 'failed'
  const isOn = recharge !== undefined && recharge.status !== 'disabled'
  return (
    <section className="card">
      <div className="row spread">
        <h2>{t('portal:autoTopUp')}</h2>
        <span className={`badge ${tone}`}>{t(label)}</span>
      </div>
      <p className="quiet">
        {t('portal:autoTopUpText')}
        {card !== undefined &&
          ` ${t('portal:autoTopUpCard', { card: cardWithExpiry(card, portal) })}`}
      </p>
      {obstacle !== null && <p>{t(obstacleTexts[obstacle])}</p>}
      <PostForm page={portal} path="/credits/auto-recharge">
        <Fields fields={fields} view={view} portal={portal} />
        <div className="actions">
          <button className="button main" type="submit" name="enabled" value="yes">
            {isOn ? t('portal:save') : t('portal:turnOn')}
          </button>
          {isOn && (
            <button className="button" type="submit" name="enabled" value="no" formNoValidate>
              {t('portal:turnOff')}
            </button>
          )}
        </div>
      </PostForm>
      {isWaiting && view.canEnterCard && <SaveCardPrompt portal={portal} />}
      <MonthlySpend portal={portal} recharge={recharge} />
    </section>
  )
}

/** Asks for a card, because nothing is bought before a card is saved. */
function SaveCardPrompt({ portal }: { readonly portal: Portal }): ReactElement {
  const { t } = portal.frame
  return (
    <PostForm page={portal} path="/payment/card">
      <input type="hidden" name="attempt" value={randomUUID()} />
      <p>{t('portal:cardWanted')}</p>
      <div className="actions">
        <button className="button main" type="submit">
          {t('shared:saveACard')}
        </button>
      </div>
    </PostForm>
  )
}

type FieldsProps = {
  readonly fields: AutoRechargeFields
  readonly view: CreditsView
  readonly portal: Portal
}

function Fields({ fields, view, portal }: FieldsProps): ReactElement {
  const { t, formats } = portal.frame
  const { currency } = fields
  const minimum = formats.money(minimumTopUpMinor(currency), currency)
  const { storedCredits } = view
  return (
    <>
      <div className="fields">
        <div>
          <label htmlFor="threshold">
            {t('portal:whenBelow', { currency: view.displayRate.currency })}
          </label>
          <AmountInput name="threshold" value={fields.threshold} portal={portal} isRequired />
        </div>
        <div>
          <label htmlFor="topup">{t('portal:buyFor')}</label>
          <AmountInput
            name="topup"
            value={fields.topup}
            portal={portal}
            suggestions={suggestedTopUpsMinor(currency).map((amountMinor) =>
              amountText(amountMinor, currency, formats),
            )}
            describedBy="topup-terms"
            isRequired
          />
        </div>
        <div>
          <label htmlFor="currency">{t('portal:currency')}</label>
          <select id="currency" name="currency" defaultValue={currency}>
            {view.currencies.map((code) => (
              <option key={code} value={code}>
                {code}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label htmlFor="monthlyMax">
            {t('portal:monthlyMax')} <span className="quiet">{t('shared:optional')}</span>
          </label>
          <AmountInput name="monthlyMax" value={fields.monthlyMax} portal={portal} />
        </div>
      </div>
      <p id="topup-terms" className="quiet small">
        {t('portal:atLeast', { amount: minimum })}
        {storedCredits !== undefined &&
          ` · ${t('portal:willReceive', { count: Number(storedCredits) })}`}
      </p>
    </>
  )
}

type AmountInputProps = {
  readonly name: string
  readonly value: string
  readonly portal: Portal
  /** Amounts that the browser suggests, in the form in which they are typed. */
  readonly suggestions?: readonly string[]
  readonly describedBy?: string
  readonly isRequired?: boolean
}

function AmountInput(props: AmountInputProps): ReactElement {
  const { name, value, portal, suggestions = [], describedBy, isRequired = false } = props
  const { t, formats } = portal.frame
  const listId = suggestions.length === 0 ? undefined : `${name}-suggestions`
  return (
    <>
      <input
        id={name}
        name={name}
        defaultValue={value}
        required={isRequired}
        inputMode="decimal"
        pattern="[0-9]+([.,][0-9]{1,2})?"
        title={t('shared:amountExample', { whole: 20, parts: formats.decimal(12.5) })}
        maxLength={12}
        autoComplete="off"
        list={listId}
        aria-describedby={describedBy}
      />
      {listId !== undefined && (
        <datalist id={listId}>
          {suggestions.map((amount) => (
            <option key={amount} value={amount} />
          ))}
        </datalist>
      )}
    </>
  )
}

/** Returns the card with its expiry: `Visa ending in 4242, valid through 08/2034`. */
function cardWithExpiry(card: Card, { frame }: Portal): string {
  const name = cardName(card, frame)
  const expiry = expiryText(card)
  return expiry === null ? name : frame.t('shared:cardValidThrough', { card: name, expiry })
}

function MonthlySpend(props: {
  readonly portal: Portal
  readonly recharge: AutoRecharge | undefined
}) {
  const { recharge, portal } = props
  const { t, formats } = portal.frame
  if (recharge === undefined || recharge.lastChargeAt === null) return null
  const amount = formats.money(recharge.monthlySpendMinor, recharge.topupCurrency)
  const date = formats.date(recharge.lastChargeAt)
  return <p className="quiet">{t('portal:lastTopUp', { date, amount })}</p>
}

function storedFields(
  { recharge, displayRate, currencies }: CreditsView,
  portal: Portal,
): AutoRechargeFields {
  if (recharge === undefined || recharge.topupMinor === 0n) {
    const currency = currencies[0] ?? displayRate.currency
    return { threshold: '', topup: '', currency, monthlyMax: '' }
  }
  const { topupCurrency, monthlySpendMaxMinor, thresholdMinor, thresholdCurrency } = recharge
  const textOf = (minor: bigint, currency: string): string =>
    amountText(minor, currency, portal.frame.formats)
  // If the balance is now shown in another currency, the threshold is left empty, so that the customer enters it again.
  const isSame = thresholdCurrency === displayRate.currency
  return {
    threshold: isSame ? textOf(thresholdMinor, thresholdCurrency) : '',
    topup: textOf(recharge.topupMinor, topupCurrency),
    currency: topupCurrency,
    monthlyMax: monthlySpendMaxMinor === null ? '' : textOf(monthlySpendMaxMinor, topupCurrency),
  }
}
