// Telling listeners that something has changed.

export class Emitter<Topic extends string> {
  private readonly listeners = new Map<Topic, (() => void)[]>();

  on(topics: Topic | Topic[], listener: () => void): void {
    for (const topic of [topics].flat() as Topic[]) {
      this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
    }
  }

  emit(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }
}
