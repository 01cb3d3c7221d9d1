// Counters, gauges and histograms, and how Prometheus reads them (text format 0.0.4). It knows no metric by name.

export interface Described {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly labels: readonly string[]
  readonly help: string
}

export interface Counter {
  add(by?: number): void
}

export interface Gauge extends Counter {
  set(value: number): void
}

export interface Histogram {
  observe(value: number): void
}

// A metric is spelt as Prometheus spells it: workqueue_depth{name,controller}.
type Labels<Spelling extends string> = Readonly<
  Record<Spelling extends `${string}{${infer Names}}` ? Each<Names> : never, string>
>
type Each<Names extends string> = Names extends `${infer First},${infer Others}` ? First | Each<Others> : Names

// `with` is for once: what it returns is held and used for every event, and makes no strings.
export interface Family<Spelling extends string, Handle> {
  with(labels: Labels<Spelling>): Handle
}

export interface ReadFamily<Spelling extends string, Handle> extends Family<Spelling, Handle> {
  // A value that is asked for when Prometheus asks; undefined: there is none now.
  read(labels: Labels<Spelling>, value: () => number | undefined): void
}

export interface Exposition {
  counter<S extends string>(spelling: S, help: string): ReadFamily<S, Counter>
  gauge<S extends string>(spelling: S, help: string): ReadFamily<S, Gauge>
  histogram<S extends string>(spelling: S, help: string, buckets: readonly number[]): Family<S, Histogram>
  readonly described: readonly Described[]
  render(): string
}

interface Series {
  lines(name: string, labels: string): readonly string[]
}

export function createExposition(): Exposition {
  const families: (Described & { readonly series: ReadonlyMap<string, Series> })[] = []

  function declare<S extends Series>(type: Described['type'], spelling: string, help: string) {
    const [name = '', ...labels] = spelling.split(/[{,}]/).filter(Boolean)
    if (families.some((family) => family.name === name)) throw new Error(`the metric ${name} is there already`)
    const series = new Map<string, S>()
    families.push({ type, name, labels, help, series })
    const keyOf = (values: Readonly<Record<string, string>>) =>
      labels.map((label) => `${label}="${escaped(values[label] ?? '').replaceAll('"', '\\"')}"`).join(',')
    return { series, keyOf }
  }

  function numbers<S extends string>(type: 'counter' | 'gauge', spelling: S, help: string): ReadFamily<S, Gauge> {
    const { series, keyOf } = declare<Gauge & Series>(type, spelling, help)
    return {
      with: (labels) => once(series, keyOf(labels), createNumber),
      read: (labels, value) =>
        void series.set(keyOf(labels), { ...createNumber(), lines: (name, key) => lineOf(name, key, value()) }),
    }
  }

  return {
    counter: (spelling, help) => numbers('counter', spelling, help),
    gauge: (spelling, help) => numbers('gauge', spelling, help),
    histogram(spelling, help, buckets) {
      const { series, keyOf } = declare<Histogram & Series>('histogram', spelling, help)
      return { with: (labels) => once(series, keyOf(labels), () => createHistogram(buckets)) }
    },
    described: families,
    render: () =>
      families
        .toSorted((a, b) => byText(a.name, b.name))
        .flatMap(({ type, name, help, series }) => [
          `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`,
          ...[...series].toSorted(([a], [b]) => byText(a, b)).flatMap(([labels, each]) => each.lines(name, labels)),
        ])
        .join(''),
  }
}

function createNumber(): Gauge & Series {
  let value = 0
  return {
    add(by = 1) {
      value += by
    },
    set(next) {
      value = next
    },
    lines: (name, labels) => lineOf(name, labels, value),
  }
}

function createHistogram(buckets: readonly number[]): Histogram & Series {
  const counts = new Float64Array(buckets.length + 1) // the last is for what is larger than every bound
  let sum = 0
  return {
    observe(value) {
      let at = 0
      while (at < buckets.length && value > (buckets[at] ?? 0)) at++
      counts[at] = (counts[at] ?? 0) + 1
      sum += value
    },
    lines(name, labels) {
      let soFar = 0
      const upTo = [...counts].flatMap((count, at) => {
        soFar += count
        const le = `le="${tellNumber(buckets[at] ?? Number.POSITIVE_INFINITY)}"`
        return lineOf(`${name}_bucket`, labels ? `${labels},${le}` : le, soFar)
      })
      return [...upTo, ...lineOf(`${name}_sum`, labels, sum), ...lineOf(`${name}_count`, labels, soFar)]
    },
  }
}

function once<S>(series: Map<string, S>, key: string, make: () => S): S {
  const there = series.get(key) ?? make()
  series.set(key, there)
  return there
}

function lineOf(name: string, labels: string, value: number | undefined): readonly string[] {
  return value === undefined ? [] : [`${name}${labels && `{${labels}}`} ${tellNumber(value)}\n`]
}

function tellNumber(value: number): string {
  return String(value).replace(/^(-?)Infinity$/, (_, sign: string) => `${sign || '+'}Inf`)
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}
