import type { ReactElement } from 'react'
import type { LimitUsageBody } from '@tollgate/schemas/http/charge-usage'
import type { ShownPurchase } from '../../purchases/present-purchases.ts'
import type { Reader } from '../reader.ts'

type UsageProps = { readonly shown: ShownPurchase; readonly reader: Reader }

/** The usage of each charge and each limit of a plan with charges. */
export function ChargedUsage({ shown, reader }: UsageProps): ReactElement {
  const { reference, currency } = shown.purchase
  const { charges = [], limits = [] } = shown.usage ?? {}
  const { t, formats } = reader
  const nameOf = (meterName: string): string =>
    charges.find((charge) => charge.meterName === meterName)?.displayName ?? meterName
  return (
    <>
      {charges.map((each) => {
        const { charge, displayName, used, included, carriedOver = 0, cap, cost, credits } = each
        const details = [
          ...(included === undefined
            ? []
            : [t('portal:unitsIncluded', { units: formats.count(included) })]),
          ...(carriedOver === 0
            ? []
            : [t('portal:unitsCarriedOver', { units: formats.count(carriedOver) })]),
          ...(cost === undefined
            ? []
            : [t('portal:chargeCost', { amount: formats.money(BigInt(cost), currency) })]),
          ...(credits === undefined
            ? []
            : [t('portal:chargeCredits', { credits: formats.count(Number(credits)) })]),
        ]
        const bar = { id: `usage-${reference}-${charge}`, name: displayName ?? charge }
        const { resetsAt } = each
        return <UnitBar key={charge} {...{ ...bar, used, cap, resetsAt, details, reader }} />
      })}
      {limits.map(({ limit, meterName, used, cap, resetsAt, ...window }) => {
        const bar = { id: `usage-${reference}-${limit}`, name: nameOf(meterName) }
        const details = [windowText(window, reader)]
        return <UnitBar key={limit} {...{ ...bar, used, cap, resetsAt, details, reader }} />
      })}
    </>
  )
}

const windowTexts = {
  hour: 'portal:perHour',
  day: 'portal:perDay',
  week: 'portal:perWeek',
  month: 'portal:perMonth',
  period: 'portal:perPeriod',
} as const

function windowText(
  { per, rollingSeconds = 0 }: Pick<LimitUsageBody, 'per' | 'rollingSeconds'>,
  { t, formats }: Reader,
): string {
  if (per !== 'rolling') return t(windowTexts[per])
  return t('portal:perRolling', { duration: formats.duration(rollingSeconds) })
}

type UnitBarProps = {
  readonly id: string
  readonly name: string
  /** Undefined if the units are not known. */
  readonly used: number | undefined
  /** Undefined for no cap. */
  readonly cap: number | undefined
  readonly resetsAt?: string | undefined
  readonly details: readonly string[]
  readonly reader: Reader
}

function UnitBar({ id, name, used, cap, resetsAt, details, reader }: UnitBarProps): ReactElement {
  const { t, formats } = reader
  const units = used === undefined ? undefined : formats.count(used)
  const words = [
    ...(units === undefined
      ? []
      : [
          cap === undefined
            ? t('portal:unitsUsed', { used: units })
            : t('portal:unitsUsedOf', { used: units, cap: formats.count(cap) }),
        ]),
    ...details,
    ...(resetsAt === undefined
      ? []
      : [t('portal:resetsOn', { date: formats.dateTime(new Date(resetsAt)) })]),
  ]
  const text = words.join(' · ')
  if (used === undefined || cap === undefined) {
    return (
      <p className="quiet">
        <strong>{name}</strong> {text}
      </p>
    )
  }
  const isFull = used >= cap
  return (
    <div className="usage">
      <label htmlFor={id}>
        <strong>{name}</strong> {text}
      </label>
      <progress id={id} className={isFull ? 'full' : ''} value={Math.min(used, cap)} max={cap} />
      {isFull && <p className="bad-text">{t('portal:limitReached')}</p>}
    </div>
  )
}
