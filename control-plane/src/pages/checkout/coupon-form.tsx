import type { ReactElement } from 'react'
import { couponCodeCharsMax } from '@tollgate/schemas/limits'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'

type CouponFormProps = {
  readonly checkout: Checkout
  readonly planRef: string
  readonly currency: string
  /** What the page says about the coupon that the checkout redeems, or cannot redeem any more. Undefined for none. */
  readonly couponText: string | undefined
  /** The code that was refused, with which the form is shown again. Undefined on a page that is opened normally. */
  readonly refusedCode: string | undefined
}

/** The form in which the customer enters a discount code, or removes it. It works without scripts. */
export function CouponForm({
  checkout,
  planRef,
  currency,
  couponText,
  refusedCode,
}: CouponFormProps): ReactElement {
  const { t } = checkout.frame
  const chosen = (
    <>
      <input type="hidden" name="plan" value={planRef} />
      <input type="hidden" name="currency" value={currency} />
    </>
  )
  if (couponText !== undefined) {
    return (
      <PostForm page={checkout} path="/code">
        {chosen}
        <p className="quiet">{couponText}</p>
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
