import type { ReactElement } from 'react'
import { couponCodeCharsMax } from '@tollgate/schemas/limits'
import { PostForm } from '../post-form.tsx'
import type { Checkout } from './checkout.ts'

type CouponFormProps = {
  readonly checkout: Checkout
  readonly planRef: string
  readonly currency: string
  /** Text about the coupon of the checkout, which may be invalid by now. Undefined if the checkout has no coupon. */
  readonly couponText: string | undefined
  /** A refused code, which the form shows again. Undefined unless the customer has just entered one. */
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
