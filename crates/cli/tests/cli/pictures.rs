//! The pictures, compared exactly.

use super::*;

#[test]
fn words() {
    let picture = shown(&[
        "reverse-sequence",
        "examples/words.npy",
        "--lengths",
        "examples/words-lengths.npy",
        "--time-axis",
        "1",
        "--batch-axis",
        "0",
    ]);
    assert_eq!(
        picture,
        "\
ReverseSequence  words.npy  U1 [5, 8]  time axis 1, batch axis 0

  len  before              after
    8  s t r e s s e d     d e s s e r t s
    4  l i v e · · · ·     e v i l · · · ·
    6  d r a w e r · ·  →  r e w a r d · ·
    1  a · · · · · · ·     a · · · · · · ·
    5  p a r t s · · ·     s t r a p · · ·
"
    );
}

#[test]
fn onnx() {
    assert_eq!(
        shown(&["reverse-sequence", "examples/onnx.npy", "--lengths", "4,3,2,1"]),
        "\
ReverseSequence  onnx.npy  f32 [4, 4]  time axis 0, batch axis 1

       before             after
  len   4   3   2   1
        0   4   8  12      3   6   9  12
        1   5   9  13  →   2   5   8  13
        2   6  10  14      1   4  10  14
        3   7  11  15      0   7  11  15
"
    );
}

#[test]
fn grid() {
    assert_eq!(
        shown(&["reverse-subsequences", "examples/grid.npy", "--axis", "3", "--lengths", "2,4,3"]),
        "\
ReverseSubsequences  grid.npy  f32 [1, 1, 3, 4]  axis 3

  len  before             after

  [0, 0, :, :]
    2   1   2   3   4      2   1   3   4
    4   5   6   7   8  →   8   7   6   5
    3   9  10  11  12     11  10   9  12
"
    );
}

#[test]
fn image() {
    let picture = shown(&["reverse", "examples/image.npy", "--axes", "1"]);
    assert_eq!(picture, include_str!("image.txt"));
}

#[test]
fn lengths_of_the_words_themselves() {
    assert_eq!(
        shown(&["reverse", "examples/words-lengths.npy"]),
        "\
Reverse  words-lengths.npy  i64 [5]  axis 0

  before        after
  8 4 6 1 5  →  5 1 6 4 8
"
    );
}

#[test]
fn scalars_and_nothing_at_all() {
    let folder = folder_with(&[
        ("scalar.npy", array("|u1", &[], [7])),
        ("empty.npy", array("<f8", &[3, 0, 2], [])),
    ]);
    assert_eq!(
        shown_in(folder.path(), &["reverse", "scalar.npy"]),
        "Reverse  scalar.npy  u8 []  no axis\n\n  before     after\n  7       →  7\n"
    );
    assert_eq!(
        shown_in(folder.path(), &["reverse", "empty.npy"]),
        "Reverse  empty.npy  f64 [3, 0, 2]  axes 0, 1, 2\n\n  (no elements)\n"
    );
}

#[test]
fn a_batch_in_front_has_its_lengths_in_the_captions() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 3, 2], 0..12))]);
    let arguments =
        ["reverse-sequence", "x.npy", "--lengths", "3,2", "--time-axis=1", "--batch-axis=0"];
    assert_eq!(
        shown_in(folder.path(), &arguments),
        "\
ReverseSequence  x.npy  u8 [2, 3, 2]  time axis 1, batch axis 0

  before     after

  [0, :, :]  len 3
   0   1      4   5
   2   3  →   2   3
   4   5      0   1

  [1, :, :]  len 2
   6   7      8   9
   8   9  →   6   7
  10  11     10  11
"
    );
}

#[test]
fn lengths_of_single_elements_are_not_shown() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 1, 2], 0..4))]);
    let arguments = ["reverse-subsequences", "x.npy", "--lengths", "2,1", "--axis", "-3"];
    assert_eq!(
        shown_in(folder.path(), &arguments),
        "\
ReverseSubsequences  x.npy  u8 [2, 1, 2]  axis 0

  before     after

  [0, :, :]
  0 1     →  2 1

  [1, :, :]
  2 3     →  0 3
"
    );
}

#[test]
fn large_tensors_show_their_ends() {
    let numbers = (0..8u16 * 20 * 40).flat_map(u16::to_be_bytes);
    let folder = folder_with(&[("x.npy", array(">u2", &[8, 20, 40], numbers))]);
    let picture = shown_in(folder.path(), &["show", "reverse", "x.npy", "--axes", "0,-1"]);
    let start = "\
Reverse  x.npy  u16 (big-endian) [8, 20, 40]  axes 0, 2

  before                                    after

  [0, :, :]
     0     1     2  …    37    38    39     5639  5638  5637  …  5602  5601  5600
    40    41    42  …    77    78    79     5679  5678  5677  …  5642  5641  5640
    80    81    82  …   117   118   119     5719  5718  5717  …  5682  5681  5680
     ⋮     ⋮     ⋮  ⋱     ⋮     ⋮     ⋮  →     ⋮     ⋮     ⋮  ⋱     ⋮     ⋮     ⋮
   680   681   682  …   717   718   719     6319  6318  6317  …  6282  6281  6280
";
    assert!(picture.starts_with(start), "{picture}");
    let captions: Vec<_> =
        picture.lines().filter(|line| line.starts_with("  [") || *line == "  ⋮").collect();
    assert_eq!(
        captions,
        [
            "  [0, :, :]",
            "  [1, :, :]",
            "  [2, :, :]",
            "  ⋮",
            "  [5, :, :]",
            "  [6, :, :]",
            "  [7, :, :]"
        ]
    );
}

#[test]
fn narrow_terminals_get_one_grid_below_the_other_and_fewer_columns() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 8], 100..116))]);
    let at = |columns: &str| {
        let mut command = command(folder.path(), &["reverse", "x.npy", "--axes", "1"]);
        command.env("COLUMNS", columns);
        let picture = run(command).stdout;
        picture.split_once('\n').unwrap().1.to_owned()
    };
    assert_eq!(
        at("45"),
        "
  before
  100  101  102  103  104  105  106  107
  108  109  110  111  112  113  114  115
  after
  107  106  105  104  103  102  101  100
  115  114  113  112  111  110  109  108
"
    );
    assert_eq!(
        at("35"),
        "
  before
  100  101  102  …  105  106  107
  108  109  110  …  113  114  115
  after
  107  106  105  …  102  101  100
  115  114  113  …  110  109  108
"
    );
    // The terminal wraps the line, but nothing is lost.
    assert_eq!(at("5"), at("12"));
}

#[test]
fn everything_shown_fits_the_width() {
    let folder =
        folder_with(&[("x.npy", array("<u4", &[9, 33], (0..9 * 33 * 4).map(|n| (n * 7) as u8)))]);
    for columns in 40..140 {
        let mut command = command(folder.path(), &["reverse", "x.npy"]);
        command.env("COLUMNS", columns.to_string());
        let picture = run(command).stdout;
        let widest = picture.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.max(45), "{columns}: {picture}");
    }
}

#[test]
fn wide_characters_line_up_and_long_ones_are_cut() {
    let text = |words: &[&str], width: usize| {
        let mut data = Vec::new();
        for word in words {
            let mut codes: Vec<u32> = word.chars().map(u32::from).collect();
            codes.resize(width, 0);
            data.extend(codes.into_iter().flat_map(u32::to_le_bytes));
        }
        data
    };
    let long = "x".repeat(40);
    let folder = folder_with(&[
        ("wide.npy", array("<U2", &[2, 2], text(&["逆", "ab", "", "日本"], 2))),
        ("long.npy", array("<U40", &[2], text(&[&long, "\u{1b}[2J"], 40))),
    ]);
    assert_eq!(
        shown_in(folder.path(), &["reverse", "wide.npy", "--axes", "1"]),
        "\
Reverse  wide.npy  U2 [2, 2]  axis 1

  before         after
  逆    ab    →  ab    逆
        日本     日本
"
    );
    assert_eq!(
        shown_in(folder.path(), &["reverse", "long.npy"]),
        "\
Reverse  long.npy  U40 [2]  axis 0

  before
  xxxxxxxxxxxxxxxxxxxxxxx…  \\u{1b}[2J
  after
  \\u{1b}[2J                 xxxxxxxxxxxxxxxxxxxxxxx…
"
    );
}

#[test]
fn colours_mark_what_moved_and_what_is_padding() {
    // All values are equal, so only positions differ: the middle one of three stays.
    let folder = folder_with(&[("x.npy", array("|u1", &[1, 4], [5; 4]))]);
    let arguments = ["reverse-subsequences", "x.npy", "--axis", "1", "--lengths", "3", "--show"];
    let mut forced = command(folder.path(), &arguments);
    forced.env("CLICOLOR_FORCE", "1");
    let row = run(forced).stdout.lines().last().unwrap().to_owned();
    let (moved, dim, end) = ("\u{1b}[1m\u{1b}[36m", "\u{1b}[2m", "\u{1b}[0m");
    assert_eq!(
        row,
        format!(
            "    \u{1b}[33m3{end}  5 5 5 {dim}5{end}  →  \
             {moved}5{end} 5 {moved}5{end} {dim}5{end}"
        )
    );
    let mut plain = command(folder.path(), &arguments);
    plain.env("NO_COLOR", "1");
    assert_eq!(run(plain).stdout.lines().last(), Some("    3  5 5 5 5  →  5 5 5 5"));
}

#[test]
fn pixels_have_the_colours_of_the_terminal() {
    // Four rows of four pixels: a red column, then black ones; the lowest row is green.
    let mut pixels = [[[0u8; 3]; 4]; 4];
    pixels.iter_mut().for_each(|row| row[0] = [255, 0, 0]);
    pixels[3] = [[0, 255, 0]; 4];
    let pixels = pixels.concat().concat();
    let folder = folder_with(&[("x.npy", array("|u1", &[4, 4, 3], pixels))]);
    let lines = |variables: &[(&str, &str)]| -> Vec<String> {
        let mut coloured = command(folder.path(), &["show", "reverse", "x.npy", "--axes", "1"]);
        variables.iter().for_each(|(name, value)| {
            coloured.env(name, value);
        });
        run(coloured).stdout.lines().map(str::to_owned).collect()
    };
    // Eight times as large, two rows in each line.
    let [red, black, green] = ["255;0;0", "0;0;0", "0;255;0"].map(|colour| format!("2;{colour}"));
    let cell = |above: &str, below: &str| format!("\u{1b}[38;{above}m\u{1b}[48;{below}m▀\u{1b}[0m");
    let all = lines(&[("CLICOLOR_FORCE", "1"), ("COLORTERM", "truecolor")]);
    let first = cell(&red, &red).repeat(8) + &cell(&black, &black).repeat(24);
    let mirrored = cell(&black, &black).repeat(24) + &cell(&red, &red).repeat(8);
    assert_eq!(all.len(), 2 + 1 + 16, "{all:#?}");
    assert_eq!(all[3], format!("  {first}     {mirrored}"));
    assert_eq!(
        all[18],
        format!("  {}     {}", cell(&green, &green).repeat(32), cell(&green, &green).repeat(32))
    );
    // 256 colours where there are no more, and shades where there are none.
    let few = lines(&[("CLICOLOR_FORCE", "1"), ("COLORTERM", "")]);
    assert!(few[3].starts_with("  \u{1b}[38;5;196m\u{1b}[48;5;196m▀"), "{}", few[3]);
    let none = lines(&[("NO_COLOR", "1")]);
    assert_eq!(
        none[3].trim_end(),
        format!("  {}{}     {}{}", "░".repeat(8), " ".repeat(24), " ".repeat(24), "░".repeat(8))
    );
    assert_eq!(none[18], format!("  {}     {}", "▒".repeat(32), "▒".repeat(32)));
    assert!(!none.concat().contains('\u{1b}'));
}

#[test]
fn large_images_show_one_pixel_of_each_square_and_fit_the_width() {
    let pixels = (0..200 * 300).map(|at| (at % 300 * 255 / 299) as u8).collect::<Vec<u8>>();
    let folder = folder_with(&[("x.npy", array("|u1", &[200, 300], pixels.clone()))]);
    for (columns, width) in [("100", 46), ("60", 26), ("200", 60), ("5", 8)] {
        let mut narrow = command(folder.path(), &["show", "reverse", "x.npy", "--axes", "1"]);
        narrow.env("COLUMNS", columns);
        let picture = run(narrow).stdout;
        assert!(picture.ends_with("  one pixel of each 5 x 5\n"), "{picture}");
        let row: Vec<char> = picture.lines().nth(4).unwrap().chars().skip(2).collect();
        assert_eq!((row[0], row[width - 1]), (' ', '█'), "{columns}: {picture}");
        assert_eq!(row[width + "     ".len()], '█', "{columns}: {picture}");
    }
    // Lengths belong to a table, whatever the type is; so do arrays of a few numbers, and of others.
    let table = ["show", "reverse-sequence", "x.npy", "--lengths", "3", "--time-axis", "1"];
    let small = folder_with(&[
        ("x.npy", array("|u1", &[1, 20], pixels[..20].to_vec())),
        ("y.npy", array("|u1", &[3, 3, 3], pixels[..27].to_vec())),
        ("z.npy", array("|i1", &[20, 20], pixels[..400].to_vec())),
    ]);
    let with_lengths: Vec<_> = table.into_iter().chain(["--batch-axis", "0"]).collect();
    assert!(shown_in(small.path(), &with_lengths).contains("len  before"));
    for name in ["y.npy", "z.npy"] {
        let picture = shown_in(small.path(), &["show", "reverse", name]);
        assert!(picture.contains("⋮") || picture.contains("[0, :, :]"), "{picture}");
    }
}

#[test]
fn pixels_are_images_in_svg() {
    let pixels: Vec<u8> = (0..4 * 5 * 4).collect();
    let folder = folder_with(&[("x.npy", array("|u1", &[4, 5, 4], pixels))]);
    let svg = shown_in(folder.path(), &["show", "reverse", "x.npy", "--axes", "0", "--svg", "-"]);
    assert_eq!(svg.matches("<image ").count(), 2);
    assert_eq!(
        svg.matches("width=\"320\" height=\"256\" style=\"image-rendering:pixelated\"").count(),
        2
    );
    assert!(svg.contains("href=\"data:image/png;base64,iVBORw0KGgo"), "{svg}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut process = piped(command(&repository(), &["reverse", "examples/image.npy"]));
    drop(process.stdout.take());
    let output = process.output();
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn padding_in_front_and_padding_that_becomes_zero() {
    let folder = folder_with(&[("x.npy", array("|u1", &[2, 4], [9, 9, 1, 2, 9, 3, 4, 5]))]);
    let words = "reverse-sequence x.npy --lengths 2,3 --time-axis 1 --batch-axis 0 --align end";
    let arguments: Vec<&str> = words.split(' ').collect();
    assert_eq!(
        shown_in(folder.path(), &arguments),
        "\
ReverseSequence  x.npy  u8 [2, 4]  time axis 1, batch axis 0, aligned at the end

  len  before      after
    2  9 9 1 2  →  9 9 2 1
    3  9 3 4 5     9 5 4 3
"
    );
    let words = format!("{words} --tail zero");
    let arguments: Vec<&str> = words.split(' ').collect();
    assert_eq!(
        shown_in(folder.path(), &arguments),
        "\
ReverseSequence  x.npy  u8 [2, 4]  time axis 1, batch axis 0, aligned at the end, padding becomes zero

  len  before      after
    2  9 9 1 2  →  0 0 2 1
    3  9 3 4 5     0 5 4 3
"
    );
}

#[test]
fn segments() {
    let folder = folder_with(&[("x.npy", array("|S1", &[19], *b"stressedliveradar.."))]);
    assert_eq!(
        shown_in(folder.path(), &["reverse-segments", "x.npy", "--offsets", "0,8,12,17"]),
        "\
ReverseSegments  x.npy  S1 [19]  axis 0, 3 segments

  before                                    after
  s t r e s s e d l i v e r a d a r . .  →  d e s s e r t s e v i l r a d a r . .
"
    );
}
