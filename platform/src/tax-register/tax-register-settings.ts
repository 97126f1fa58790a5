import { parseUrl } from '@tollgate/schemas/parse-url'
import { integerSetting, type Setting } from '../config/settings.ts'

const urlSetting: Setting<string> = {
  variable: 'TOLLGATE_TAX_REGISTER_URL',
  description:
    "REST address of the register of VAT numbers of the EU, `https://ec.europa.eu/taxation_customs/vies/rest-api`. If empty, tax ids are accepted by their format alone. Only live customers' tax ids are looked up",
  defaultText: '',
  parse: (text) => {
    if (text === '') return text
    const url = parseUrl(text)
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
      throw new Error('must be an http or https address')
    return text.replace(/\/+$/, '')
  },
}

/** Settings of the register of VAT numbers. */
export const taxRegisterSettings = {
  taxRegisterUrl: urlSetting,
  taxRegisterTimeoutMs: integerSetting(
    'TOLLGATE_TAX_REGISTER_TIMEOUT_MS',
    'How long a payment or a change of tax details waits for the register of VAT numbers, in milliseconds. Without an answer the tax id counts as valid until it could be looked up',
    3_000,
    { min: 100, max: 60_000 },
  ),
}
