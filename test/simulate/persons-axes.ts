import { readAxes } from '../../runners/batch/manifest/matrix/read-axes.js';
import { pick, type Random } from '../support/manifest-edits.js';

const words: Readonly<Record<string, readonly string[]>> = {
  style: ['oil', 'ink', 'oil warm'],
  tone: ['warm', 'cold'],
};

/** The file of `--axes` as a person edits it: some prompts are asked for by two sets of axes. */
export class AxesFile {
  private values = new Map<string, readonly string[]>([['style', ['oil']]]);

  constructor(private readonly random: Random) {}

  /** Adds or removes values, puts them in another order, adds an axis or removes it. */
  edit(): string[] {
    const { random } = this;
    if (random() > 0.35) return [];
    const axis = pick(['style', 'style', 'tone'], random);
    const wanted = (words[axis] ?? []).filter(() => random() < 0.6);
    if (wanted.length > 0) this.values.set(axis, random() < 0.5 ? wanted : wanted.toReversed());
    else if (axis === 'tone') this.values.delete(axis);
    if (random() < 0.3) this.values = new Map([...this.values].reverse());
    return [`the axes are ${this.text.replaceAll('\n', ' ')}`];
  }

  /** The options of a start. */
  async settings() {
    const bytes = async function* (text: string) {
      yield await Promise.resolve(Buffer.from(text));
    };
    const each = await readAxes(bytes(this.text), 'axes.csv');
    return { set: { prompt: `{{words}} {{style}}${this.values.has('tone') ? ' {{tone}}' : ''}` }, each };
  }

  /** The prompts of a line. */
  promptsOf(line: string): string[] {
    const tones = this.values.get('tone')?.map((tone) => ` ${tone}`) ?? [''];
    return (this.values.get('style') ?? []).flatMap((style) =>
      tones.map((tone) => `${line} ${style}${tone}`),
    );
  }

  private get text(): string {
    const lines = [...this.values].flatMap(([axis, values]) => values.map((value) => `${axis},${value}`));
    return ['axis,value', ...lines, ''].join('\n');
  }
}
