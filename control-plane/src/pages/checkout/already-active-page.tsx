import type { ReactElement } from 'react'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import type { WayToAccount } from './account-routes.ts'
import type { Checkout } from './checkout.ts'
import { DoneCard } from './done-card.tsx'
import { chargeWords, type NextCharge } from './next-charge.ts'

type AlreadyActiveProps = {
  readonly checkout: Checkout
  readonly purchase: Purchase
  readonly next: NextCharge | undefined
  readonly account: WayToAccount | undefined
}

/** The page for a customer who already has the plan of the checkout. */
export function AlreadyActivePage({
  checkout,
  purchase,
  next,
  account,
}: AlreadyActiveProps): ReactElement {
  const { t } = checkout.frame
  const { planSnapshot: plan, productName } = purchase
  return (
    <DoneCard
      checkout={checkout}
      title={t('checkout:alreadyActive')}
      account={account}
      rows={[
        { label: t('checkout:product'), value: productName },
        { label: t('checkout:plan'), value: plan?.name ?? '' },
        ...(next === undefined
          ? []
          : [{ label: t('checkout:nextCharge'), value: chargeWords(next, checkout.frame) }]),
      ]}
    />
  )
}
