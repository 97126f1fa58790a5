/** One setting: its environment variable, its meaning, and how its text is parsed. */
export type Setting<Value> = {
  readonly variable: string
  readonly description: string
  /** Default value as text, shown in the documentation. Undefined means that the setting is required. */
  readonly defaultText: string | undefined
  readonly parse: (text: string) => Value
  /** True if the value must not appear in error messages. */
  readonly isSecret?: true
}

export type Settings = Readonly<Record<string, Setting<unknown>>>

export type SettingValues<Declared extends Settings> = {
  readonly [Name in keyof Declared]: Declared[Name] extends Setting<infer Value> ? Value : never
}

/** Its message has one line for each variable that is missing or invalid. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Reads all settings from the environment. Throws a SettingsError that lists every invalid one. */
export function readSettings<Declared extends Settings>(
  declared: Declared,
  environment: Readonly<Record<string, string | undefined>>,
): SettingValues<Declared> {
  const values: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [name, setting] of Object.entries(declared)) {
    const text = environment[setting.variable] ?? setting.defaultText
    if (text === undefined) {
      problems.push(`${setting.variable} is not set: ${setting.description}`)
      continue
    }
    try {
      values[name] = setting.parse(text)
    } catch (error) {
      const shown = setting.isSecret === true ? setting.variable : `${setting.variable}=${text}`
      problems.push(`${shown}: ${(error as Error).message}`)
    }
  }
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return Object.freeze(values) as SettingValues<Declared>
}

export function textSetting(
  variable: string,
  description: string,
  defaultText?: string,
): Setting<string> {
  return { variable, description, defaultText, parse: (text) => text }
}

/** A path of a file or folder. It must not be empty, because an empty path means the working directory. */
export function pathSetting(
  variable: string,
  description: string,
  defaultText: string,
): Setting<string> {
  const parse = (text: string): string => {
    if (text.trim() === '') throw new Error('must name a path')
    return text
  }
  return { variable, description, defaultText, parse }
}

/** A whole number within inclusive bounds. Name the unit in the variable (`..._MS`, `..._BYTES`) and the description. */
export function integerSetting(
  variable: string,
  description: string,
  defaultValue: number | undefined,
  bounds: { readonly min: number; readonly max: number },
): Setting<number> {
  return {
    variable,
    description: `${description} (${bounds.min} to ${bounds.max})`,
    defaultText: defaultValue?.toString(),
    parse: (text) => {
      const value = Number(text)
      if (!Number.isInteger(value) || value < bounds.min || value > bounds.max) {
        throw new Error(`must be a whole number from ${bounds.min} to ${bounds.max}`)
      }
      return value
    },
  }
}

export function choiceSetting<Choice extends string>(
  variable: string,
  description: string,
  choices: readonly Choice[],
  defaultChoice: Choice,
): Setting<Choice> {
  return {
    variable,
    description: `${description} (one of ${choices.join(', ')})`,
    defaultText: defaultChoice,
    parse: (text) => {
      const choice = choices.find((each) => each === text)
      if (choice === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
      return choice
    },
  }
}

/** A secret value, which error messages do not repeat. The default is empty. */
export function secretSetting<Value>(
  variable: string,
  description: string,
  parse: (text: string) => Value,
): Setting<Value> {
  return { variable, description, defaultText: '', parse, isSecret: true }
}
