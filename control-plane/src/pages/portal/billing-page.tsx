import type { ReactElement, ReactNode } from 'react'
import { addressCharsMax, addressLinesMax } from '@tollgate/schemas/limits'
import { countryName, elsewhere } from '../countries.ts'
import { CountrySelect } from '../country-select.tsx'
import type { Notice } from '../notice.tsx'
import { PostForm } from '../post-form.tsx'
import type { Reader } from '../reader.ts'
import type { PlainKey } from '../texts/texts.ts'
import type { BillingDetails, DetailsField, DetailsForm } from './billing-details.ts'
import type { Portal } from './portal.ts'
import { PortalPage } from './portal-page.tsx'

type SectionProps = { readonly portal: Portal; readonly details: BillingDetails }

/** The buyer's details on the next invoice. */
export function BillingSection({ portal, details }: SectionProps): ReactElement {
  const { t } = portal.frame
  const { name, invoiceEmail, country, isBusiness, businessName, taxId, address } = details.stored
  const facts: readonly (readonly [PlainKey, string])[] = [
    ['portal:company', isBusiness ? businessName : ''],
    ['portal:name', name],
    ['portal:address', address],
    ['shared:country', shownCountry(country, portal.frame)],
    ['portal:taxId', isBusiness ? taxId : ''],
    ['portal:invoiceEmail', invoiceEmail],
  ]
  return (
    <section className="card" aria-label={t('portal:billingDetails')}>
      <h2>{t('portal:billingDetails')}</h2>
      <dl className="facts">
        {facts
          .filter(([, text]) => text !== '')
          .map(([label, text]) => (
            <div key={label}>
              <dt>{t(label)}</dt>
              <dd className="lines">{text}</dd>
            </div>
          ))}
      </dl>
      <div className="actions">
        <a
          className="button"
          href={`${portal.path}/payment/billing`}
          aria-label={t('portal:editBilling')}
        >
          {t('portal:edit')}
        </a>
      </div>
    </section>
  )
}

type BillingPageProps = SectionProps & {
  readonly form: DetailsForm
  readonly invalidField: DetailsField | undefined
  readonly notice: Notice | undefined
}

export function BillingPage(props: BillingPageProps): ReactElement {
  const { portal, form, invalidField, notice } = props
  const { t } = portal.frame
  const title = t('portal:billingDetails')
  const field = { form, invalidField, reader: portal.frame }
  return (
    <PortalPage portal={portal} section="payment" title={title} notice={notice}>
      <p>
        <a href={`${portal.path}/payment`}>{t('portal:backToPayment')}</a>
      </p>
      <section className="card narrow" aria-label={title}>
        <h1>{title}</h1>
        <p className="quiet">{t('portal:billingExplained')}</p>
        <PostForm page={portal} path="/payment/billing">
          <div className="stack">
            <TextField {...field} name="name" label="portal:name" autoComplete="name" />
            <TextField
              {...field}
              name="invoiceEmail"
              label="portal:invoiceEmail"
              autoComplete="email"
            />
            <CountryField {...props} />
            <label className="check">
              <input
                type="checkbox"
                name="isBusiness"
                value="yes"
                defaultChecked={form.isBusiness}
              />
              {t('portal:isBusiness')}
            </label>
            <div className="stack of-business">
              <TextField
                {...field}
                name="businessName"
                label="portal:company"
                autoComplete="organization"
              />
              <TextField {...field} name="taxId" label="portal:taxId" autoComplete="off" />
            </div>
            <AddressField {...field} />
          </div>
          <div className="actions">
            <button className="button main" type="submit">
              {t('portal:save')}
            </button>
            <a className="button" href={`${portal.path}/payment`}>
              {t('portal:cancelEdit')}
            </a>
          </div>
        </PostForm>
      </section>
    </PortalPage>
  )
}

type FieldProps = {
  readonly form: DetailsForm
  readonly invalidField: DetailsField | undefined
  readonly reader: Reader
}

type TextFieldProps = FieldProps & {
  readonly name: 'name' | 'invoiceEmail' | 'businessName' | 'taxId'
  readonly label: PlainKey
  readonly autoComplete: string
}

function TextField({ form, invalidField, reader, name, label, autoComplete }: TextFieldProps) {
  const isInvalid = invalidField === name
  return (
    <div>
      <label htmlFor={name}>
        {reader.t(label)} <span className="quiet">{reader.t('shared:optional')}</span>
      </label>
      <input
        id={name}
        name={name}
        inputMode={name === 'invoiceEmail' ? 'email' : undefined}
        defaultValue={form[name]}
        maxLength={name === 'invoiceEmail' ? 254 : 100}
        autoComplete={autoComplete}
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby={isInvalid ? `${name}-complaint` : undefined}
      />
      <FieldError field={name} isShown={isInvalid}>
        {name === 'taxId' ? reader.t('portal:taxIdWrong') : reader.t('portal:emailWrong')}
      </FieldError>
    </div>
  )
}

function CountryField({ portal, details, form, invalidField }: BillingPageProps): ReactElement {
  const { frame } = portal
  const { t } = frame
  const isInvalid = invalidField === 'country'
  return (
    <div>
      <CountrySelect
        reader={frame}
        value={form.country}
        isRequired={details.isNeeded}
        hasStates={details.isStateNeeded}
        isKnown={details.known !== undefined && details.known.country !== null}
        isInvalid={isInvalid}
        describedBy={isInvalid ? 'country-complaint' : undefined}
      />
      <FieldError field="country" isShown={isInvalid}>
        {t('portal:countryWrong')}
      </FieldError>
    </div>
  )
}

function AddressField({ form, invalidField, reader: { t } }: FieldProps): ReactElement {
  const isInvalid = invalidField === 'address'
  const limits = { lines: addressLinesMax, characters: addressCharsMax }
  return (
    <div>
      <label htmlFor="address">
        {t('portal:address')} <span className="quiet">{t('shared:optional')}</span>
      </label>
      <textarea
        id="address"
        name="address"
        rows={4}
        maxLength={addressCharsMax}
        defaultValue={form.address}
        autoComplete="street-address"
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby={isInvalid ? 'address-hint address-complaint' : 'address-hint'}
      />
      <p id="address-hint" className="quiet small">
        {t('portal:addressHint')}
      </p>
      <FieldError field="address" isShown={isInvalid}>
        {t('portal:addressWrong', limits)}
      </FieldError>
    </div>
  )
}

type FieldErrorProps = {
  readonly field: string
  readonly isShown: boolean
  readonly children: ReactNode
}

function FieldError({ field, isShown, children }: FieldErrorProps): ReactElement | null {
  if (!isShown) return null
  return (
    <p id={`${field}-complaint`} className="complaint">
      {children}
    </p>
  )
}

function shownCountry(code: string, reader: Reader): string {
  if (code === elsewhere) return reader.t('shared:anotherCountry')
  return code === '' ? '' : countryName(code, reader)
}
