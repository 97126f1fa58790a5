import type { ReactElement } from 'react'
import { couponCodeCharsMax } from '@tollgate/schemas/limits'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'

type CouponFormProps = {
  readonly checkout: Checkout
  readonly planRef: string
  readonly currency: string
  /** Name of the coupon that the checkout redeems. Undefined for none. */
  readonly couponName: string | undefined
  /** The code that was refused, with which the form is shown again. Undefined on a page that is opened normally. */
  readonly refusedCode: string | undefined
}

/** The form in which the customer enters a discount code, or removes it. It works without scripts. */
export function CouponForm({
  checkout,
  planRef,
  currency,
  couponName,
  refusedCode,
}: CouponFormProps): ReactElement {
  const { t } = checkout.frame
  const chosen = (
    <>
      <input type="hidden" name="plan" value={planRef} />
      <input type="hidden" name="currency" value={currency} />
    </>
  )
  if (couponName !== undefined) {
    return (
      <PostForm page={checkout} path="/code">
        {chosen}
        <p className="quiet">{t('checkout:codeApplied', { name: couponName })}</p>
        <button className="button" type="submit" name="act" value="remove">
          {t('checkout:removeCode')}
        </button>
      </PostForm>
    )
  }
  return (
    <details open={refusedCode !== undefined}>
      <summary>{t('checkout:haveCode')}</summary>
      <PostForm page={checkout} path="/code">
        {chosen}
        <label htmlFor="code">{t('checkout:discountCode')}</label>
        <input
          id="code"
          name="code"
          defaultValue={refusedCode}
          maxLength={couponCodeCharsMax}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
        />
        <button className="button" type="submit">
          {t('checkout:applyCode')}
        </button>
      </PostForm>
    </details>
  )
}
