//! The command line of a program as data: the command reads that of the other programs, for
//! completions and manual pages.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use serde_json::{Value, json};

/// The argument that makes a program print its description.
pub const OPTION: &str = "--describe";

/// A command line as data.
pub fn of(command: &Command) -> Value {
    let shown = |argument: &&Arg| !argument.is_hide_set();
    json!({
        "name": command.get_name(),
        "about": text(command.get_about()),
        "after": text(command.get_after_help()),
        "arguments": command.get_arguments().filter(shown).map(argument).collect::<Vec<_>>(),
        "commands": command.get_subcommands().map(of).collect::<Vec<_>>(),
    })
}

fn argument(argument: &Arg) -> Value {
    let action = argument.get_action();
    // Flags have values too, which nobody can give.
    let takes = action.takes_values();
    let names = argument.get_value_names().filter(|_| takes).unwrap_or_default();
    let values = if takes { argument.get_possible_values() } else { Vec::new() };
    let value =
        |value: &clap::builder::PossibleValue| json!([value.get_name(), text(value.get_help())]);
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    json!({
        "id": argument.get_id().as_str(),
        "short": argument.get_short(),
        "long": argument.get_long(),
        "help": text(argument.get_help()),
        "long_help": text(argument.get_long_help()),
        "takes": takes,
        "many": matches!(action, ArgAction::Append),
        "names": names.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
        "values": values.iter().map(value).collect::<Vec<_>>(),
        "defaults": defaults.collect::<Vec<_>>(),
        "required": argument.is_required_set(),
        "global": argument.is_global_set(),
    })
}

fn text(styled: Option<&StyledStr>) -> Option<String> {
    styled.map(StyledStr::to_string)
}

/// The command line of a description. `None` if it is none.
pub fn read(described: &Value) -> Option<Command> {
    let mut command = Command::new(word(&described["name"])?);
    if let Some(about) = word(&described["about"]) {
        command = command.about(about);
    }
    if let Some(after) = word(&described["after"]) {
        command = command.after_help(after);
    }
    for argument in described["arguments"].as_array()? {
        command = command.arg(read_argument(argument)?);
    }
    for below in described["commands"].as_array()? {
        command = command.subcommand(read(below)?);
    }
    Some(command)
}

fn read_argument(described: &Value) -> Option<Arg> {
    let words = |key: &str| described[key].as_array().into_iter().flatten().filter_map(word);
    let is = |key: &str| described[key].as_bool().unwrap_or(false);
    let mut argument = Arg::new(word(&described["id"])?)
        .required(is("required"))
        .global(is("global"))
        .action(match (is("takes"), is("many")) {
            (true, true) => ArgAction::Append,
            (true, false) => ArgAction::Set,
            _ => ArgAction::SetTrue,
        });
    if let Some(short) = described["short"].as_str() {
        argument = argument.short(short.chars().next());
    }
    if let Some(long) = word(&described["long"]) {
        argument = argument.long(long);
    }
    if let Some(help) = word(&described["help"]) {
        argument = argument.help(help);
    }
    if let Some(help) = word(&described["long_help"]) {
        argument = argument.long_help(help);
    }
    if is("takes") {
        argument = argument.default_values(words("defaults"));
        let names: Vec<_> = words("names").collect();
        if !names.is_empty() {
            argument = argument.value_names(names);
        }
        let values: Vec<_> = described["values"].as_array()?.iter().collect();
        let value = |value: &&Value| {
            let known = clap::builder::PossibleValue::new(word(&value[0])?);
            Some(match word(&value[1]) {
                Some(help) => known.help(help),
                None => known,
            })
        };
        if !values.is_empty() {
            argument = argument.value_parser(values.iter().filter_map(value).collect::<Vec<_>>());
        }
    }
    Some(argument)
}

/// A text. clap takes texts of programs that end soon as static ones.
fn word(value: &Value) -> Option<&'static str> {
    value.as_str().map(|text| &*Box::leak(text.to_owned().into_boxed_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::{PaddingArguments, Policy};
    use crate::stores::StoreArguments;
    use clap::{CommandFactory, Parser};

    /// A program
    #[derive(Debug, Parser)]
    #[command(name = "one", after_help = "More.")]
    struct One {
        /// A file
        #[arg(value_name = "IN")]
        input: String,
        /// What to do
        #[arg(short, long, value_enum, default_value_t = Policy::Clamp)]
        policy: Policy,
        #[command(flatten)]
        padding: PaddingArguments,
        #[command(flatten)]
        store: StoreArguments,
    }

    #[test]
    fn a_description_reads_back() {
        let own = One::command();
        let mut read = read(&of(&own)).unwrap();
        assert_eq!(of(&read), of(&own));
        read.clone().debug_assert();
        let help = read.render_help().to_string();
        for part in ["A program", "<IN>", "-p, --policy <POLICY>", "[default: clamp]", "More."] {
            assert!(help.contains(part), "{help}");
        }
    }
}
